import { afterEach, describe, expect, it } from '@jest/globals';
import type { EventDoc } from '../src/adapters/store/events.ts';
import { openStores } from '../src/adapters/store/stores.ts';
import { signature } from '../src/domain/webhook-request.ts';
import { aDelivery, anEvent } from './builders.ts';
import { CONFIG, type TestDispatcher } from './dispatcher.ts';
import { dieEverywhere, endWorlds, type World, workedOff } from './dying.ts';

afterEach(endWorlds);

/** Failed for good, of a test: the live check lets it pass. */
const STORED = aDelivery({ status: 'exhausted', type: 'webhook.test', bubble: null, attemptCount: 5, claimCount: 5, ownerId: 'ada' });

describe('dying between any two steps of a request under an idempotency key', () => {
  it('[GEN-13] of creating under a key: asked again, there is one, and its secret is the one that signs', async () => {
    const ask = (dispatcher: TestDispatcher, { receiver }: World) =>
      dispatcher.call('POST', '', { url: receiver.url, events: ['bubble.ready'] }, { idempotencyKey: 'a' });
    const deaths = await dieEverywhere({
      // What was made the first time takes the only place.
      config: { quota: { ...CONFIG.quota, perUser: 1 } },
      behaviour: 204,
      before: async ({ doomed, id }) => void (await doomed.call('DELETE', `/${id}`)),
      work: async (here) => (await ask(here.doomed, here)).status === 201,
      async judge(survivor, here) {
        const answer = await ask(survivor, here);
        expect(answer.status).toBe(201);
        expect((await survivor.call('GET')).body.data).toMatchObject([{ id: answer.body.id }]);
        await survivor.ready();
        await survivor.settle();
        const sent = here.receiver.received.map(({ headers, body }) => [headers['x-service-signature'], body] as const);
        expect(sent).toHaveLength(1);
        for (const [header, body] of sent) expect(header).toBe(signature([answer.body.secret], body, survivor.clock.now()));
      },
    });
    expect(deaths).toBeGreaterThan(4);
  });

  it('[GEN-13] of replacing a secret: asked again, the old one still signs beside it', async () => {
    const ask = (dispatcher: TestDispatcher, { id }: World) => dispatcher.call('POST', `/${id}/secret`, {}, { idempotencyKey: 'a' });
    const secrets: string[] = [];
    const deaths = await dieEverywhere({
      behaviour: 204,
      before: async ({ doomed, id }) => void secrets.push((await doomed.call('POST', `/${id}/secret`)).body.secret),
      work: async (here) => (await ask(here.doomed, here)).status === 201,
      async judge(survivor, here) {
        const answer = await ask(survivor, here);
        await survivor.ready();
        await survivor.settle();
        const [received] = here.receiver.received;
        const expected = [answer.body.secret, secrets.at(-1) ?? ''];
        expect(received?.headers['x-service-signature']).toBe(signature(expected, received?.body ?? Buffer.alloc(0), survivor.clock.now()));
      },
    });
    expect(deaths).toBeGreaterThan(4);
  });

  it('[GEN-13] of asking for a test and for a redelivery under a key: asked again, each comes once', async () => {
    const ask = async (dispatcher: TestDispatcher, { id }: World) => {
      const test = await dispatcher.call('POST', `/${id}/test`, undefined, { idempotencyKey: 'a' });
      const [delivery] = (await dispatcher.call('GET', `/${id}/deliveries?status=exhausted`)).body?.data ?? [];
      const path = `/${id}/deliveries/${delivery?.id ?? STORED.id}/redeliver`;
      const again = await dispatcher.call('POST', path, undefined, { idempotencyKey: 'a' });
      return [test.status, again.status];
    };
    const deaths = await dieEverywhere({
      behaviour: 204,
      async before({ database, id }) {
        await openStores(database).deliveries.insert({ ...STORED, subscriptionId: id });
        const { bubble, body, id: eventId, ...event } = anEvent();
        await database.collection<EventDoc>('events').insert({ _id: eventId, ...event, bubbleId: null, body: Buffer.from(body) });
      },
      async work(here) {
        const statuses = await ask(here.doomed, here);
        await workedOff(here);
        return statuses.every((status) => status === 202);
      },
      async judge(survivor, here) {
        expect(await ask(survivor, here)).toEqual([202, 202]);
        await survivor.settle();
        const log = await survivor.deliveries(here.id);
        expect(log).toHaveLength(2);
        expect(log).toMatchObject([{ status: 'succeeded' }, { status: 'succeeded' }]);
        // A death between POST and record sends one of them once more, under its id.
        expect(new Set(here.receiver.ids()).size).toBe(2);
      },
    });
    expect(deaths).toBeGreaterThan(10);
  });
});
