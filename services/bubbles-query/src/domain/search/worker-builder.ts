import { Worker } from 'node:worker_threads';
import type { BuildAnswer, BuildOrder } from './build-messages.ts';
import type { IndexBuilder } from './index-builder.ts';

/** One thread, started when first needed and again after it broke; it keeps the process alive only while it works. */
const createLane = () => {
  let worker: Worker | null = null;
  const pending = new Map<number, (answer: BuildAnswer) => void>();

  const settle = (answer: BuildAnswer): void => {
    const resolve = pending.get(answer.job);
    pending.delete(answer.job);
    if (pending.size === 0) worker?.unref();
    resolve?.(answer);
  };
  const fail = (reason: string): void => {
    worker = null;
    for (const job of [...pending.keys()]) settle({ job, kind: 'failed', reason });
  };
  const open = (): Worker => {
    const opened = new Worker(new URL('./build-worker.ts', import.meta.url));
    const failIfCurrent = (reason: string) => {
      if (worker === opened) fail(reason);
    };
    opened.unref();
    opened.on('message', settle);
    opened.on('error', (error) => failIfCurrent(Error.isError(error) ? error.message : String(error)));
    opened.on('exit', () => failIfCurrent('the thread ended'));
    return opened;
  };
  const running = (): Worker => {
    worker ??= open();
    return worker;
  };
  return {
    load: (): number => pending.size,
    /** The answer to this job, whose orders follow; a failure is an answer too. */
    expect: (job: number): Promise<BuildAnswer> => {
      running().ref();
      return new Promise((resolve) => pending.set(job, resolve));
    },
    send: (order: BuildOrder): void => running().postMessage(order),
    stop: async (): Promise<void> => {
      const stopping = worker;
      fail('the service stops');
      await stopping?.terminate();
    },
  };
};

type Lane = ReturnType<typeof createLane>;

const unexpected = (answer: BuildAnswer): Error =>
  new Error(answer.kind === 'failed' ? `index not built: ${answer.reason}` : `index not built: answered with ${answer.kind}`);

/** In threads of their own. What they make lies in shared memory, so that handing it over copies nothing. */
export const workerBuilder = (threads: number): IndexBuilder => {
  const lanes = Array.from({ length: threads }, createLane);
  let jobs = 0;
  const idlest = (): Lane => lanes.reduce((a, b) => (b.load() < a.load() ? b : a));
  return {
    build: async (batches) => {
      const lane = idlest();
      const job = ++jobs;
      const answer = lane.expect(job);
      try {
        for await (const rows of batches) lane.send({ job, kind: 'rows', rows });
      } catch (error) {
        lane.send({ job, kind: 'drop' });
        throw error;
      }
      lane.send({ job, kind: 'finish' });
      const made = await answer;
      if (made.kind !== 'built') throw unexpected(made);
      return made.built;
    },
    merge: async (task) => {
      const lane = idlest();
      const job = ++jobs;
      const answer = lane.expect(job);
      lane.send({ job, kind: 'merge', task });
      const made = await answer;
      if (made.kind !== 'merged') throw unexpected(made);
      return made.merged;
    },
    stop: async () => {
      await Promise.all(lanes.map((lane) => lane.stop()));
    },
  };
};
