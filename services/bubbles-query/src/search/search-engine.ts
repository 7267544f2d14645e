import type { Clock } from '@bubbles/kernel/clock.ts';
import type { Log } from '@bubbles/kernel/log.ts';
import type { CardFeed, PeopleFeed, RunInSlices, SearchIndex } from '../ports.ts';
import { openThread, threadBuilder } from './build-threads.ts';
import { createIndexCache } from './index-cache.ts';
import { runInSlices, turnsInOrder } from './time-slices.ts';

interface SearchEngineOptions {
  readonly cards: CardFeed;
  readonly people: PeopleFeed;
  /** Build large indexes beside the event loop. */
  readonly threads: number;
  /** For the indexes of the callers that searched last. */
  readonly memoryBytes: number;
  readonly clock: Clock;
  readonly log: Log;
}

interface SearchEngine {
  readonly index: SearchIndex;
  readonly runInSlices: RunInSlices;
  stop(): Promise<void>;
}

export const createSearchEngine = ({ cards, people, threads, memoryBytes, clock, log }: SearchEngineOptions): SearchEngine => {
  const eventLoop = { elapsedMs: () => clock.monotonic(), nextTurn: turnsInOrder() };
  const builder = threadBuilder(openThread, threads);
  return {
    index: createIndexCache({
      ...eventLoop,
      cards,
      people,
      builder,
      budgetBytes: memoryBytes,
      nowMs: () => clock.now().getTime(),
      onFault: (error) => log.error('search index merge failed, rebuilding', { error }),
    }),
    runInSlices: (work) => runInSlices(work, eventLoop),
    stop: () => builder.stop(),
  };
};
