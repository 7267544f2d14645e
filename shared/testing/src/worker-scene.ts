import type { Loop } from '@bubbles/kernel/loop.ts';
import type { Doc } from '@bubbles/store/collection.ts';
import { createWorkQueue } from '@bubbles/store/work/work-queue.ts';
import { createWorker, type WorkerOptions } from '@bubbles/store/work/worker.ts';
import { openEmbedded } from '@bubbles/store-embedded/open-embedded.ts';
import { fakeClock } from './fake-clock.ts';
import { fakeIds } from './fake-ids.ts';
import { memoryLog } from './memory-log.ts';

/** A piece of work of `workerScene`. */
export interface Mail extends Doc {
  readonly to: string;
  readonly dueAt: Date;
  /** Where failed pieces keep their place in the queue. */
  readonly claimableAt: Date;
  readonly leaseToken: string | null;
}

const LEASE_MS = 60_000;

/** A queue and its workers, on a store in memory and a clock that stands still. With `keepsPlace` work that is released keeps its place in the queue. */
export const workerScene = async ({ keepsPlace = false } = {}) => {
  const clock = fakeClock();
  const log = memoryLog();
  const collection = openEmbedded({ path: ':memory:', log }).database('test').collection<Mail>('mails');
  await collection.ensureIndexes([{ name: 'due_at', keys: { dueAt: 1 } }]);
  const fields = { claimableAt: keepsPlace ? 'claimableAt' : 'dueAt', leaseToken: 'leaseToken' } as const;
  const queue = createWorkQueue({ collection, fields: keepsPlace ? { ...fields, dueAt: 'dueAt' } : fields });
  const add = (ids: readonly string[], { to = 'x', inMs = 0 } = {}) =>
    collection.insertEach(
      ids.map((_id) => ({ _id, to, dueAt: new Date(clock.now().getTime() + inMs), claimableAt: new Date(0), leaseToken: null })),
    );
  const worker = (options: Pick<WorkerOptions<Mail>, 'work'> & Partial<WorkerOptions<Mail>>): Loop =>
    createWorker({ name: 'mails', queue, clock, ids: fakeIds(), log, leaseMs: LEASE_MS, pollMs: 1000, concurrency: 4, ...options });
  return { clock, log, collection, queue, add, worker };
};
