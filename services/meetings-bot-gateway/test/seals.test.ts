import { SealsPage } from '@bubbles/contracts/internal/operators.ts';
import { expect, it } from '@jest/globals';
import { startGateway, type TestGateway } from './gateway.ts';

const keyOf = (id: string, byte: number) => `${id}=${Buffer.alloc(32, byte).toString('base64')}`;
const [K1, K2] = [keyOf('k1', 1), keyOf('k2', 2)];
const LINK = 'https://zoom.us/j/1234567890?pwd=open-sesame';

it('every link that is sealed opens with a new key alone, after an operator has let it be sealed again', async () => {
  const first = await startGateway({ environment: { SEAL_KEYS: K1 } });
  const { database, clock, identity } = first;
  const restarted = async (before: TestGateway, SEAL_KEYS: string) => {
    await before.stop();
    return startGateway({ database, clock, identity, environment: { SEAL_KEYS } });
  };
  expect((await first.join({ meeting_url: LINK })).status).toBe(201);
  const second = await restarted(first, `${K2},${K1}`);
  let after: string | null = null;
  let resealed = 0;
  do {
    const page: SealsPage = SealsPage.parse((await second.call('POST', '/internal/v1/admin/seals', { after, dry_run: false })).body);
    resealed += page.resealed;
    after = page.next_after;
  } while (after !== null);
  expect(resealed).toBeGreaterThanOrEqual(2);
  const third = await restarted(second, K2);
  expect((await third.runs()).map(({ meeting_url }) => meeting_url)).toEqual([LINK]);
  for (const name of ['joins', 'simulated_runs', 'idempotency_keys'])
    expect(JSON.stringify(await database.collection(name).find({}))).not.toContain('"k1.');
  await third.stop();
});
