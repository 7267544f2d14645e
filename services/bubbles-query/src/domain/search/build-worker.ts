import { parentPort } from 'node:worker_threads';
import type { BuildAnswer, BuildOrder } from './build-messages.ts';
import { createIndexBuild, type IndexBuild, mergeSegments } from './index-build.ts';

const builds = new Map<number, IndexBuild>();

const buildOf = (job: number): IndexBuild => {
  const build = builds.get(job) ?? createIndexBuild();
  builds.set(job, build);
  return build;
};

const answerTo = (order: BuildOrder): BuildAnswer | null => {
  const { job } = order;
  if (order.kind === 'rows') {
    buildOf(job).add(order.rows);
    return null;
  }
  if (order.kind === 'merge') return { job, kind: 'merged', merged: mergeSegments(order.task) };
  const build = buildOf(job);
  builds.delete(job);
  return order.kind === 'drop' ? { job, kind: 'failed', reason: 'given up' } : { job, kind: 'built', built: build.finish() };
};

const attempt = (order: BuildOrder): BuildAnswer | null => {
  try {
    return answerTo(order);
  } catch (error) {
    builds.delete(order.job);
    return { job: order.job, kind: 'failed', reason: Error.isError(error) ? error.message : String(error) };
  }
};

parentPort?.on('message', (order: BuildOrder) => {
  const answer = attempt(order);
  if (answer !== null) parentPort?.postMessage(answer);
});
