import { parentPort } from 'node:worker_threads';
import type { CardRow } from '../domain/search-card.ts';
import { type BuiltIndex, createIndexBuild, type MergeResult, type MergeTask, mergeSegments } from './index-build.ts';

/** To a thread. Rows of a build come in order before its finish; builds may interleave. */
export type BuildOrder =
  | { readonly job: number; readonly kind: 'rows'; readonly rows: readonly CardRow[] }
  | { readonly job: number; readonly kind: 'finish' }
  | { readonly job: number; readonly kind: 'drop' }
  | { readonly job: number; readonly kind: 'merge'; readonly task: MergeTask };

/** From a thread, for every finish, drop and merge. */
export type BuildAnswer =
  | { readonly job: number; readonly kind: 'built'; readonly built: BuiltIndex }
  | { readonly job: number; readonly kind: 'merged'; readonly merged: MergeResult }
  | { readonly job: number; readonly kind: 'failed'; readonly reason: string };

/** What a thread does with its orders: answers every finish, drop and merge, and nothing else. */
const serveBuilds = (): ((order: BuildOrder) => BuildAnswer | null) => {
  const builds = new Map<number, ReturnType<typeof createIndexBuild>>();
  const buildOf = (job: number) => {
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

const serve = serveBuilds();

parentPort?.on('message', (order: BuildOrder) => {
  const answer = serve(order);
  if (answer !== null) parentPort?.postMessage(answer);
});
