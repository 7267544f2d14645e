import { BusUnavailable, type EventDefinition, eventHandler } from '@bubbles/bus/bus.ts';
import { createMemoryBus } from '@bubbles/bus/memory/memory.ts';
import { outgoing, stamp } from '@bubbles/bus/outgoing.ts';
import { unshownMetrics } from '@bubbles/http/ops/metrics.ts';
import { createAggregateStore, OUTBOX_INDEX, type Stored } from '@bubbles/store/aggregates.ts';
import { type Database, type Doc, storeRefusal, storeUnavailable } from '@bubbles/store/collection.ts';
import { fakeClock } from '@bubbles/testing/fake-clock.ts';
import { fakeIds } from '@bubbles/testing/fake-ids.ts';
import { SILENT_LOG } from '@bubbles/testing/http.ts';
import { memoryDatabase } from '@bubbles/testing/memory-database.ts';
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { measuredInfra, measureJobs, watchOutboxes } from './service-metrics.ts';

interface Note {
  readonly id: string;
}

const NoteWritten: EventDefinition<{ n: number }> = {
  type: 'sample.note.written.v1',
  publisher: 'sample',
  consumers: ['reader'],
  schema: z.object({ n: z.int() }),
};

const scene = ({ database = memoryDatabase(), publish }: { readonly database?: Database; readonly publish?: () => Promise<void> } = {}) => {
  const clock = fakeClock();
  const ids = fakeIds();
  const metrics = unshownMetrics();
  const bus = createMemoryBus({ clock, log: SILENT_LOG, jitter: () => 0 });
  const infra = measuredInfra({ clock, ids, log: SILENT_LOG, database, bus: { ...bus, ...(publish && { publish }) } }, metrics);
  /** The sample of this name and these labels, as it is scraped. */
  const sample = async (line: string): Promise<number | null> => {
    const lines = (await metrics.registry.metrics()).split('\n');
    const found = lines.find((each) => each.startsWith(`${line} `));
    return found === undefined ? null : Number(found.slice(line.length));
  };
  const event = (n: number) => stamp(outgoing(NoteWritten, { n }), { clock, ids, source: 'sample' });
  return { clock, ids, metrics, infra, sample, event };
};

/** A database whose reads fail in this way. */
const failing = (error: () => unknown): Database => {
  const database = memoryDatabase();
  return {
    ...database,
    collection: <T extends Doc>(name: string) => ({
      ...database.collection<T>(name),
      find: () => Promise.reject(error()),
      findOne: () => Promise.reject(error()),
    }),
  };
};

const named = (name: string, code?: number) => Object.assign(new Error('a fault of the driver'), { name, ...(code && { code }) });

describe('the figures of the store', () => {
  it('time each operation by collection and name, and change nothing of it', async () => {
    const { infra, sample } = scene();
    const notes = infra.database.collection<Doc>('notes');
    expect(await notes.insert({ _id: 'a' })).toBe(true);
    expect(await notes.insert({ _id: 'a' })).toBe(false);
    expect(await notes.find({ _id: 'a' }, { limit: 1 })).toEqual([{ _id: 'a' }]);
    expect(notes.name).toBe('notes');
    expect(await sample('store_operation_seconds_count{collection="notes",operation="insert"}')).toBe(2);
    expect(await sample('store_operation_seconds_count{collection="notes",operation="find"}')).toBe(1);
    expect(await sample('store_operation_failures_total{collection="notes",reason="pool_wait"}')).toBe(0);
  });

  it.each([
    ['pool_wait', storeUnavailable(named('MongoWaitQueueTimeoutError'))],
    ['deadline', storeUnavailable(named('TimeoutError'))],
    ['access', storeUnavailable(named('MongoServerError', 13))],
    ['unreachable', storeUnavailable(named('MongoServerSelectionError'))],
    ['refused', storeRefusal('a fault of the caller')],
  ])('count a failure as %s and hand it on', async (reason, error) => {
    const { infra, sample } = scene({ database: failing(() => error) });
    await expect(infra.database.collection('notes').findOne({ _id: 'a' })).rejects.toBe(error);
    expect(await sample(`store_operation_failures_total{collection="notes",reason="${reason}"}`)).toBe(1);
    expect(await sample('store_operation_seconds_count{collection="notes",operation="findOne"}')).toBe(1);
  });
});

describe('the figures of the bus', () => {
  it('count what was confirmed, and what failed in which way', async () => {
    const { infra, sample, event } = scene();
    await expect(infra.bus.publish(NoteWritten, event(1))).rejects.toMatchObject({ name: 'BusUnavailable' });
    await infra.bus.consume(
      'reader',
      eventHandler(NoteWritten, () => Promise.resolve()),
    );
    await infra.bus.publish(NoteWritten, event(2));
    expect(await sample('bus_publish_seconds_count{outcome="failed"}')).toBe(1);
    expect(await sample('bus_publish_seconds_count{outcome="confirmed"}')).toBe(1);
    expect(await sample('bus_publish_seconds_count{outcome="timeout"}')).toBe(0);
  });

  it.each(['returned', 'timeout'] as const)('count what was %s as that', async (outcome) => {
    const { infra, sample, event } = scene({ publish: () => Promise.reject(new BusUnavailable('not taken', undefined, outcome)) });
    await expect(infra.bus.publish(NoteWritten, event(1))).rejects.toMatchObject({ outcome });
    expect(await sample(`bus_publish_seconds_count{outcome="${outcome}"}`)).toBe(1);
    expect(await sample('bus_publish_seconds_count{outcome="failed"}')).toBe(0);
  });

  it('count deliveries, redeliveries and dead letters by consumer and event type, from 0 on', async () => {
    const { infra, sample, event } = scene();
    const of = (name: string) => sample(`bus_messages_${name}_total{consumer="reader",event_type="sample.note.written.v1"}`);
    let faults = 2;
    await infra.bus.consume(
      'reader',
      eventHandler(NoteWritten, () => {
        faults -= 1;
        return faults < 0 ? Promise.resolve() : Promise.reject(new Error('a fault'));
      }),
    );
    expect([await of('delivered'), await of('redelivered'), await of('dead_lettered')]).toEqual([0, 0, 0]);
    await infra.bus.publish(NoteWritten, event(1));
    expect([await of('delivered'), await of('redelivered'), await of('dead_lettered')]).toEqual([3, 2, 0]);
    faults = Number.POSITIVE_INFINITY;
    await infra.bus.publish(NoteWritten, event(2));
    expect(await of('dead_lettered')).toBe(1);
    expect(await sample('bus_dead_letters{consumer="reader"}')).toBe(1);
  });
});

describe('the figures of outboxes', () => {
  it('tell how many events wait and how old the oldest is, and nothing false while the store is away', async () => {
    const database = memoryDatabase();
    let isAway = false;
    const { clock, ids, metrics, sample } = scene();
    const kept = database.collection<Stored<Note>>('notes');
    await kept.ensureIndexes([OUTBOX_INDEX]);
    const watched = {
      ...kept,
      find: ((filter, options) =>
        isAway ? Promise.reject(storeUnavailable(null)) : kept.find(filter, options)) satisfies typeof kept.find,
    };
    watchOutboxes(metrics, { outboxes: [watched], clock });
    const notes = createAggregateStore<Note>(kept, { clock, ids, source: 'sample' });
    expect(await sample('outbox_waiting_events{collection="notes"}')).toBe(0);
    expect(await sample('outbox_oldest_waiting_seconds{collection="notes"}')).toBe(0);
    await notes.insert({ id: 'a' }, [outgoing(NoteWritten, { n: 1 }), outgoing(NoteWritten, { n: 2 })]);
    await clock.advance(61_000);
    expect(await sample('outbox_waiting_events{collection="notes"}')).toBe(2);
    expect(await sample('outbox_oldest_waiting_seconds{collection="notes"}')).toBe(61);
    isAway = true;
    expect(await sample('outbox_waiting_events{collection="notes"}')).toBeNaN();
    expect(await sample('outbox_oldest_waiting_seconds{collection="notes"}')).toBeNaN();
  });
});

describe('the figures of jobs', () => {
  it('tell the schedule, the last success of any replica, durations and failures', async () => {
    const { clock, infra, metrics, sample } = scene();
    const jobs = [{ name: 'sweep', cron: '*/10 * * * *', run: () => Promise.resolve() }];
    const { ended } = measureJobs(metrics, { ...infra, jobs });
    expect(await sample('job_interval_seconds{job_name="sweep"}')).toBe(600);
    expect(await sample('job_failures_total{job_name="sweep"}')).toBe(0);
    expect(await sample('job_last_success_timestamp_seconds{job_name="sweep"}')).toBeNull();
    const by = { by: null, until: clock.now(), ranFor: clock.now() };
    await infra.database.collection<Doc>('leases').insert({ _id: 'sweep', ...by, succeededAt: clock.now() } as Doc);
    ended('sweep', 'failed', 2000);
    expect(await sample('job_failures_total{job_name="sweep"}')).toBe(1);
    expect(await sample('job_duration_seconds_sum{job_name="sweep"}')).toBe(2);
    expect(await sample('job_last_success_timestamp_seconds{job_name="sweep"}')).toBe(clock.now().getTime() / 1000);
  });

  it('keep each job while the store is away, so that none counts as one that never ran', async () => {
    const { clock, metrics, sample } = scene();
    const jobs = ['sweep', 'drop'].map((name) => ({ name, cron: '*/10 * * * *', run: () => Promise.resolve() }));
    measureJobs(metrics, { jobs, database: failing(() => storeUnavailable(null)), clock });
    for (const { name } of jobs) expect(await sample(`job_last_success_timestamp_seconds{job_name="${name}"}`)).toBeNaN();
  });
});
