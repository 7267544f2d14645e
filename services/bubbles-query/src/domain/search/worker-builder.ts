import { Worker } from 'node:worker_threads';
import type { IndexBuilder } from './index-builder.ts';
import { type OpenThread, threadBuilder } from './thread-builder.ts';

const openWorker: OpenThread = ({ answered, ended }) => {
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

/** In worker threads of Node. */
export const workerBuilder = (threads: number): IndexBuilder => threadBuilder(openWorker, threads);
