import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { DispatcherSettings } from './support/dispatcher-orders.ts';
import { scaled } from './support/scale.ts';
import { expectKept } from './support/webhooks-expectations.ts';
import { openTrial, type Trial, type TrialOptions } from './support/webhooks-trial.ts';

const SUBSCRIPTIONS = 10;
const BUBBLES = scaled({ short: 60, long: 600 });
const KILLS = scaled({ short: 3, long: 20 });
/** Soon somebody else has what a killed process had. An attempt may take half of it: a slow machine must not make one fail, which is made again a minute later. */
const LEASE_MS = 8000;
/** When a process is killed, of a POST on the wire: unanswered, or so soon after its answer that it is hardly recorded. */
const MOMENTS = [null, 0, 2] as const;

let folder: string;
let trial: Trial | null;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'webhooks-'));
  trial = null;
});
afterEach(async () => {
  await trial?.close();
  rmSync(folder, { recursive: true, force: true });
});

const mongoUrl = process.env['MONGODB_URL'];
type Store = DispatcherSettings['store'];
const dataFile = (): Store => ({ file: join(folder, 'data.db') });
const mongo = (): Store => ({ url: mongoUrl ?? '', name: `webhooks_chaos_${randomUUID().slice(0, 8)}` });

const open = async (options: Pick<TrialOptions, 'store' | 'processes'> & Partial<TrialOptions>): Promise<Trial> => {
  trial = await openTrial({ amqpUrl: null, leaseMs: LEASE_MS, subscriptions: SUBSCRIPTIONS, bubbles: BUBBLES, ...options });
  return trial;
};
const killsOf = ({ killSender }: Trial, count: number) =>
  Array.from({ length: count }, (_, n) => killSender(MOMENTS[n % MOMENTS.length] ?? null));

const stores = [{ kind: 'a data file', store: dataFile, processes: [1] }];
if (mongoUrl !== undefined) stores.push({ kind: 'MongoDB', store: mongo, processes: [1, 2, 3] });
const settings = stores.flatMap(({ kind, store, processes }) => processes.map((count) => ({ kind, store, processes: count })));
/** The embedded store is one process's. */
const sharing = settings.filter(({ processes }) => processes > 1);
/** How many dispatchers share the work, on each store or, in the short form, on the last one. */
const shared = stores
  .slice(scaled({ short: -1, long: 0 }))
  .map(({ processes, ...of }) => ({ ...of, processes: Math.min(2, processes.length) }));

describe('kill -9 of a dispatcher with POSTs on the wire', () => {
  it.each(settings)(
    '[DLV-05] $processes on $kind: every delivery arrives, under one id, and only what was on the wire again',
    async ({ store, processes }) => {
      const run = await open({ store: store(), processes });
      await run.load(killsOf(run, KILLS));
      await run.done();
      const { ledger, standing } = await run.result();
      expectKept(run, ledger);
      expect(standing.deliveries.filter(({ status }) => status !== 'succeeded')).toEqual([]);
      expect(ledger.repeated).toBeGreaterThan(0);
    },
  );

  if (sharing.length > 0)
    it.each(sharing)(
      '[DLV-05] $processes on $kind of which none is killed share the work: nothing is sent twice',
      async ({ store, processes }) => {
        const run = await open({ store: store(), processes });
        await run.load([]);
        await run.done();
        const { ledger } = await run.result();
        expectKept(run, ledger);
        expect(run.receiver.arrivals).toHaveLength(run.deliveries);
        expect(new Set(run.receiver.arrivals.map(({ sender }) => sender)).size).toBeGreaterThan(1);
      },
    );
});

describe('kill -9 of a dispatcher while identity is away', () => {
  it.each(shared)(
    '[DLV-05] $processes on $kind: nothing is sent before identity answers, and everything once after',
    async ({ store, processes }) => {
      const run = await open({ store: store(), processes });
      const { dispatchers } = run;
      const untilAsking = (name: string) => run.until(`${name} asks identity`, async () => (await dispatchers.asking(name)) > 0);
      await dispatchers.become({ identity: 'silent' });
      await Promise.all([...run.bubbles.map(dispatchers.tell), ...dispatchers.alive.map(untilAsking)]);
      for (const name of dispatchers.alive) {
        await dispatchers.kill(name);
        await dispatchers.start();
      }
      await Promise.all(dispatchers.alive.map(untilAsking));
      expect(run.receiver.arrivals).toEqual([]);
      await dispatchers.become({ identity: 'up' });
      await run.done();
      const { ledger, standing } = await run.result();
      expectKept(run, ledger);
      expect(ledger.repeated).toBe(0);
      expect(standing.deliveries.filter(({ outcomes }) => outcomes.join() !== '2xx')).toEqual([]);
    },
  );
});

describe('kill -9 of a dispatcher whose receiver fails for a while', () => {
  /** Fewer a subscription than disable it. */
  const BUBBLES_OF_EACH = 15;
  const MANY = scaled({ short: 30, long: 90 });
  const FIRST_RETRY_MS = 60_000;
  /** Few enough that no delivery is given up. */
  const FEW = 3;

  it.each(shared)('[DLV-05] [HOOK-08] $processes on $kind: as many attempts are recorded as were made', async ({ store, processes }) => {
    const run = await open({ store: store(), processes, subscriptions: MANY, bubbles: BUBBLES_OF_EACH });
    const { receiver, dispatchers } = run;
    receiver.answerWith(500);
    await run.load(killsOf(run, FEW));
    await run.until(
      'each delivery has an attempt on record',
      async () => (await dispatchers.standing()).deliveries.filter(({ outcomes }) => outcomes.length > 0).length === run.deliveries,
    );
    const failed = await run.result();
    expectKept(run, failed.ledger);
    expect(failed.standing.deliveries.filter(({ outcomes }) => outcomes.join() !== '5xx')).toEqual([]);
    expect(failed.standing.subscriptions.filter(({ status, fails }) => status !== 'active' || fails !== BUBBLES_OF_EACH)).toEqual([]);

    receiver.answerWith(204);
    const caught = receiver.holdAfter(run.deliveries / 2);
    await dispatchers.become({ aheadMs: FIRST_RETRY_MS });
    await run.killSender(null)(await caught);
    await run.done();
    const { ledger, standing } = await run.result();
    expectKept(run, ledger);
    expect(standing.deliveries.filter(({ outcomes }) => outcomes.join() !== '5xx,2xx')).toEqual([]);
    expect(standing.subscriptions.filter(({ fails }) => fails !== 0)).toEqual([]);
  });
});
