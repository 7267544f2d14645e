import { SealsPage } from '@bubbles/contracts/internal/operators.ts';
import { asService } from '@bubbles/testing/http.ts';
import { expect, it } from '@jest/globals';
import { aBubble } from './builders.ts';
import { openScene } from './scene.ts';

const [K1, K2] = [
  { id: 'k1', key: Buffer.alloc(32, 1) },
  { id: 'k2', key: Buffer.alloc(32, 9) },
];

it('everything that is sealed opens with a new key alone, after an operator has let it be sealed again', async () => {
  const scene = await openScene({ config: { sealKeys: [K1] } });
  const subscriber = await scene.subscriber();
  const rotate = { idempotencyKey: 'rotate-once' };
  const rotated = await scene.dispatcher.call('POST', `/${subscriber.id}/secret`, {}, rotate);
  expect(rotated.status).toBe(201);
  await scene.restart({ config: { sealKeys: [K2, K1] } });
  let after: string | null = null;
  let resealed = 0;
  do {
    const answer: Response = await fetch(`${scene.dispatcher.url}/internal/v1/admin/seals`, {
      method: 'POST',
      headers: { ...asService('operator'), 'content-type': 'application/json' },
      body: JSON.stringify({ after, dry_run: false }),
    });
    const page: SealsPage = SealsPage.parse(await answer.json());
    resealed += page.resealed;
    after = page.next_after;
  } while (after !== null);
  expect(resealed).toBeGreaterThanOrEqual(2);
  await scene.restart({ config: { sealKeys: [K2] } });
  await scene.dispatcher.ready({ bubble: aBubble({ id: 'b-1' }) });
  await scene.dispatcher.settle();
  expect(await subscriber.log()).toMatchObject([{ status: 'succeeded' }]);
  const again = await scene.dispatcher.call('POST', `/${subscriber.id}/secret`, {}, rotate);
  expect([again.status, again.body]).toEqual([rotated.status, rotated.body]);
  await scene.stop();
});
