import { Worker } from 'node:worker_threads';
import type { BuildAnswer, BuildOrder } from './build-worker.ts';
import type { IndexBuilder } from './index-build.ts';

/** A thread that serves builds. */
interface BuildThread {
  send(order: BuildOrder): void;
  /** Whether it keeps the process alive. */
  hold(on: boolean): void;
  end(): Promise<void>;
}

interface BuildThreadEvents {
  readonly answered: (answer: BuildAnswer) => void;
  /** It broke or ended, and answers nothing more. */
  readonly ended: (reason: string) => void;
}

type OpenThread = (events: BuildThreadEvents) => BuildThread;

/** One thread, started when first needed and again after it broke; it keeps the process alive only while it works. */
const threadSlot = (openThread: OpenThread) => {
  let thread: BuildThread | null = null;
  const pending = new Map<number, (answer: BuildAnswer) => void>();

  const settle = (answer: BuildAnswer): void => {
    const resolve = pending.get(answer.job);
    pending.delete(answer.job);
    if (pending.size === 0) thread?.hold(false);
    resolve?.(answer);
  };
  const fail = (reason: string): void => {
    thread = null;
    for (const job of [...pending.keys()]) settle({ job, kind: 'failed', reason });
  };
  const open = (): BuildThread => {
    const opened: BuildThread = openThread({
      answered: settle,
      ended: (reason) => {
        if (thread === opened) fail(reason);
      },
    });
    opened.hold(false);
    return opened;
  };
  const running = (): BuildThread => {
    thread ??= open();
    return thread;
  };
  return {
    load: (): number => pending.size,
    /** The answer to this job, whose orders follow; a failure is an answer too. */
    expect: (job: number): Promise<BuildAnswer> => {
      running().hold(true);
      return new Promise((resolve) => pending.set(job, resolve));
    },
    /** What is left of a job that failed with its thread needs no other one. */
    send: (order: BuildOrder): void => thread?.send(order),
    stop: async (): Promise<void> => {
      const stopping = thread;
      fail('the service stops');
      await stopping?.end();
    },
  };
};

const unexpected = (answer: BuildAnswer): Error =>
  new Error(answer.kind === 'failed' ? `index not built: ${answer.reason}` : `index not built: answered with ${answer.kind}`);

/** In threads of their own. What they make lies in shared memory, so that handing it over copies nothing. */
export const threadBuilder = (openThread: OpenThread, threads: number): IndexBuilder => {
  const slots = Array.from({ length: threads }, () => threadSlot(openThread));
  let jobs = 0;
  const idlest = () => slots.reduce((a, b) => (b.load() < a.load() ? b : a));
  return {
    build: async (batches) => {
      const thread = idlest();
      const job = ++jobs;
      const answer = thread.expect(job);
      try {
        for await (const rows of batches) thread.send({ job, kind: 'rows', rows });
      } catch (error) {
        thread.send({ job, kind: 'drop' });
        throw error;
      }
      thread.send({ job, kind: 'finish' });
      const made = await answer;
      if (made.kind !== 'built') throw unexpected(made);
      return made.built;
    },
    merge: async (task) => {
      const thread = idlest();
      const job = ++jobs;
      const answer = thread.expect(job);
      thread.send({ job, kind: 'merge', task });
      const made = await answer;
      if (made.kind !== 'merged') throw unexpected(made);
      return made.merged;
    },
    stop: async () => {
      await Promise.all(slots.map((slot) => slot.stop()));
    },
  };
};

/** A worker thread of Node. */
export const openThread: OpenThread = ({ answered, ended }) => {
  const worker = new Worker(new URL('./build-worker.ts', import.meta.url));
  worker.on('message', answered);
  worker.on('error', (error) => ended(Error.isError(error) ? error.message : String(error)));
  worker.on('exit', () => ended('the thread ended'));
  return {
    send: (order) => worker.postMessage(order),
    hold: (on) => (on ? worker.ref() : worker.unref()),
    end: async () => {
      await worker.terminate();
    },
  };
};
