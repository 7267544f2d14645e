import { randomUUID } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { systemClock } from '@bubbles/kernel/clock.ts';
import type { Database } from '@bubbles/store/collection.ts';
import { openMongo } from '@bubbles/store/mongo.ts';
import { memoryDatabase } from '@bubbles/testing/memory-database.ts';
import { memoryLog } from '@bubbles/testing/memory-log.ts';
import { mortalDatabase } from '@bubbles/testing/mortal-database.ts';
import { describe, expect, it } from '@jest/globals';
import { TEAM } from './builders.ts';
import { type FakeProvider, fakeProvider } from './fake-provider.ts';
import { fakeIdentity, MEETING, startGateway, type TestGateway } from './gateway.ts';

const freeTeam = () => {
  const identity = fakeIdentity();
  identity.teams.set(TEAM, { id: TEAM, known: true, plan: 'free', archived: false, channel_ids: [] });
  return identity;
};

interface Engine {
  readonly name: string;
  readonly open: () => Database;
  /** It dies at each step of this distance: a store over the network is slow. */
  readonly stride: number;
}
const url = process.env['MONGODB_URL'];
const mongo = (): Database => {
  const name = `meetings_crash_${randomUUID().slice(0, 8)}`;
  return openMongo({ url: url ?? '', name, log: memoryLog(), clock: systemClock() });
};
const engines: readonly Engine[] = [
  { name: 'the embedded store', open: memoryDatabase, stride: 1 },
  ...(url === undefined ? [] : [{ name: 'MongoDB', open: mongo, stride: 7 }]),
];

/** More than a flow has. */
const MOST_STEPS = 400;

describe.each(engines)('dying between any two steps of $name', ({ open, stride }) => {
  const LEASE_SECONDS = 61;
  const workedOff = async (doomed: TestGateway, { isDead }: { isDead(): boolean }): Promise<void> => {
    let hasSettled = false;
    const settled = doomed.settle().then(() => {
      hasSettled = true;
    });
    while (!hasSettled && !isDead()) await setImmediate();
    if (!isDead()) await settled;
  };
  const sweep = async (
    webhooks: readonly ('joinId' | 'ref')[],
    judge: (survivor: TestGateway, provider: FakeProvider, id: string) => Promise<void>,
  ) => {
    for (let step = 1; step < MOST_STEPS; step += stride) {
      const data = open();
      const database = mortalDatabase(data);
      const provider = fakeProvider();
      const doomed = await startGateway({ database, provider, identity: freeTeam() });
      database.dieAt(step);
      const ask = ({ call }: TestGateway) => call('POST', '/v1/meetings/join', MEETING, { idempotencyKey: 'once' });
      const first = await ask(doomed);
      await workedOff(doomed, database);
      const id = String(first.body?.id ?? '');
      provider.move(id, { status: 'in_call' });
      const answers: number[] = [];
      for (const [n, by] of webhooks.entries())
        answers.push((await doomed.hook(provider.webhook(`e${n}`, by === 'joinId' ? { joinId: id } : { ref: 'run-1' }))).status);
      await workedOff(doomed, database);
      const died = database.isDead();
      const gone = doomed.stop().catch(() => undefined);
      const survivor = await startGateway({ database: data, clock: doomed.clock, provider, identity: doomed.identity });
      try {
        await survivor.pass(LEASE_SECONDS);
        const again = await ask(survivor);
        await survivor.settle();
        // A provider sends again what was not answered.
        for (const [n, status] of answers.entries())
          if (status !== 204) await survivor.hook(provider.webhook(`e${n}`, { joinId: String(again.body.id) }));
        await survivor.pass(LEASE_SECONDS);
        // What one step makes due is done at the next: a store over the network is slower than the clock.
        for (let n = 0; n < 4; n += 1) await survivor.pass(10);
        // Nobody heard of a join whose request was not answered.
        if (id === '') {
          provider.move(String(again.body.id), { status: 'in_call' });
          await survivor.pass(200);
        }
        await judge(survivor, provider, String(again.body.id));
      } finally {
        await survivor.stop();
        await gone;
        await data.close();
      }
      if (!died) return step - 1;
    }
    throw new Error('the flow never got through');
  };

  it('[MEET-10] of a dispatch, a webhook and the look after it: one notetaker is sent, and the news arrives', async () => {
    const deaths = await sweep(['joinId', 'ref'], async (survivor, provider, id) => {
      expect(provider.runs).toHaveLength(1);
      expect((await survivor.status(id)).body.status).toBe('in_call');
    });
    expect(deaths).toBeGreaterThan(40);
  });
});
