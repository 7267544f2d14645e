import type { EventDefinition } from '@bubbles/bus/bus.ts';
import { outgoing } from '@bubbles/bus/outgoing.ts';
import { currentTraceparent, runInSpan, startSpan, traceparentOf } from '@bubbles/kernel/trace.ts';
import { openEmbedded } from '@bubbles/store-embedded/open-embedded.ts';
import { fakeClock } from '@bubbles/testing/fake-clock.ts';
import { fakeIds } from '@bubbles/testing/fake-ids.ts';
import { memoryLog } from '@bubbles/testing/memory-log.ts';
import { recordingBus } from '@bubbles/testing/recording-bus.ts';
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { createAggregateStore, OUTBOX_INDEX, type Stored } from './aggregates.ts';
import { createOutboxRelay } from './outbox-relay.ts';
import { runJobs } from './work/run-jobs.ts';

const HOUR_MS = 3_600_000;
const Stepped: EventDefinition = { type: 'test.order.stepped.v1', publisher: 'test', consumers: [], schema: z.object({ step: z.int() }) };
const stepped = <S>(state: S) => ({ state, events: [outgoing(Stepped, { step: 1 })] });

const world = () => {
  const database = openEmbedded({ path: ':memory:', log: memoryLog() }).database('test');
  return { database, clock: fakeClock(), ids: fakeIds(), log: memoryLog() };
};

describe('traces', () => {
  it('an event goes out in the trace of the write that tells it, and one that an earlier release wrote goes out as it is', async () => {
    const infra = world();
    const collection = infra.database.collection<Stored<{ readonly id: string }>>('orders');
    await collection.ensureIndexes([OUTBOX_INDEX]);
    const bus = recordingBus();
    const relays: (string | null)[] = [];
    bus.admit(() => relays.push(currentTraceparent()) > 0);
    const store = createAggregateStore<{ readonly id: string }>(collection, { ...infra, source: 'test' });
    const span = startSpan();
    await store.insert({ id: 'a' });
    await runInSpan(span, () => store.update('a', stepped));
    await store.update('a', stepped);
    const relay = createOutboxRelay({ ...infra, bus, collections: [collection], definitions: [Stepped] });
    await relay.idle();
    expect(bus.published.map(({ traceparent }) => traceparent)).toEqual([traceparentOf(span), undefined]);
    // What the relay logs is of the trace of the first event.
    expect(relays.map((traceparent) => traceparent?.slice(3, 35))).toEqual([span.traceId, span.traceId]);
    expect(await collection.findOne({ _id: 'a' })).toMatchObject({ outbox: [] });
    await relay.stop();
  });

  it('each run of a job has one of its own, whatever began the loop', async () => {
    const infra = world();
    const traces: (string | null)[] = [];
    const job = { name: 'sweep', cron: '0 * * * *', run: () => Promise.resolve(void traces.push(currentTraceparent())) };
    const around = startSpan();
    const jobs = runInSpan(around, () => runJobs({ ...infra, jobs: [job], metrics: { ended: () => undefined } }), { requestId: 'req-1' });
    for (let hour = 0; hour < 2; hour += 1) {
      await infra.clock.advance(HOUR_MS);
      await jobs.idle();
    }
    expect(traces).toEqual([expect.any(String), expect.any(String)]);
    expect(new Set([around.traceId, ...traces.map((traceparent) => traceparent?.slice(3, 35))]).size).toBe(3);
    await jobs.stop();
  });
});
