import type { CardRow } from './card.ts';
import { type BuiltIndex, createIndexBuild, type MergeResult, type MergeTask, mergeSegments } from './index-build.ts';

/** Does the work that is too long for the event loop. */
export interface IndexBuilder {
  build(batches: AsyncIterable<readonly CardRow[]>): Promise<BuiltIndex>;
  merge(task: MergeTask): Promise<MergeResult>;
  stop(): Promise<void>;
}

/** On the event loop: for few bubbles. */
export const inlineBuilder = (): IndexBuilder => ({
  build: async (batches) => {
    const build = createIndexBuild();
    for await (const rows of batches) build.add(rows);
    return build.finish();
  },
  merge: (task) => Promise.resolve(mergeSegments(task)),
  stop: () => Promise.resolve(),
});
