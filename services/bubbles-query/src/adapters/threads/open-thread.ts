import { Worker } from 'node:worker_threads';
import type { OpenThread } from '../../domain/search/thread-builder.ts';

/** A worker thread of Node. */
export const openThread: OpenThread = ({ answered, ended }) => {
  const worker = new Worker(new URL('./build-thread.ts', import.meta.url));
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
