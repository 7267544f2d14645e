import type { BuildAnswer, BuildOrder } from './build-messages.ts';
import { createIndexBuild, type IndexBuild, mergeSegments } from './index-build.ts';

/** What a thread does with its orders: answers every finish, drop and merge, and nothing else. */
export const serveBuilds = (): ((order: BuildOrder) => BuildAnswer | null) => {
  const builds = new Map<number, IndexBuild>();
  const buildOf = (job: number): IndexBuild => {
    const build = builds.get(job) ?? createIndexBuild();
    builds.set(job, build);
    return build;
  };
  const answerTo = (order: BuildOrder): BuildAnswer | null => {
    const { job } = order;
    if (order.kind === 'merge') return { job, kind: 'merged', merged: mergeSegments(order.task) };
    const build = buildOf(job);
    if (order.kind === 'rows') {
      build.add(order.rows);
      return null;
    }
    builds.delete(job);
    return order.kind === 'drop' ? { job, kind: 'failed', reason: 'given up' } : { job, kind: 'built', built: build.finish() };
  };
  return (order) => {
    try {
      return answerTo(order);
    } catch (error) {
      builds.delete(order.job);
      return { job: order.job, kind: 'failed', reason: Error.isError(error) ? error.message : String(error) };
    }
  };
};
