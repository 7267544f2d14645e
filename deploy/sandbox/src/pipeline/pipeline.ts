import { publishedBy } from '@bubbles/contracts/events/catalog.ts';
import type { Infra } from '@bubbles/host/service.ts';
import { createAggregateStore, OUTBOX_INDEX, type Stored } from '@bubbles/store/aggregates.ts';
import { createOutboxRelay, releaseOutboxes } from '@bubbles/store/outbox-relay.ts';
import { type Comments, comments, type PipelineComment, type PipelineThread } from './comments.ts';
import { type Directory, people } from './people.ts';
import { type PipelineBubble, type Recordings, recordings } from './recordings.ts';

const SOURCE = 'recording-pipeline';

/** Stands in for the recording pipeline, which is outside of the product. Its store and its outbox survive a crash as those of the services do. */
export interface Pipeline {
  readonly recordings: Recordings;
  readonly comments: Comments;
  settle(): Promise<void>;
  stop(): Promise<void>;
}

export async function startPipeline(infra: Infra, directory: Directory): Promise<Pipeline> {
  const { database, clock, ids } = infra;
  const relayed = {
    bubbles: database.collection<Stored<PipelineBubble>>('recordings'),
    threads: database.collection<Stored<PipelineThread>>('threads'),
    comments: database.collection<Stored<PipelineComment>>('comments'),
  };
  for (const collection of Object.values(relayed)) await collection.ensureIndexes([OUTBOX_INDEX]);
  await releaseOutboxes(Object.values(relayed), clock.now());
  const relay = createOutboxRelay({ ...infra, collections: Object.values(relayed), definitions: publishedBy(SOURCE) });
  const stored = { clock, ids, source: SOURCE, onCommit: () => relay.poke() };
  const who = people(directory);
  return {
    recordings: recordings({ store: createAggregateStore(relayed.bubbles, stored), people: who, clock, ids }),
    comments: comments({
      threads: createAggregateStore(relayed.threads, stored),
      comments: createAggregateStore(relayed.comments, stored),
      people: who,
      clock,
      ids,
    }),
    async settle() {
      relay.poke();
      await relay.idle();
    },
    stop: () => relay.stop(),
  };
}
