import { parentPort } from 'node:worker_threads';
import type { BuildOrder } from './build-messages.ts';
import { serveBuilds } from './serve-builds.ts';

const serve = serveBuilds();

parentPort?.on('message', (order: BuildOrder) => {
  const answer = serve(order);
  if (answer !== null) parentPort?.postMessage(answer);
});
