import { createPrivateKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { serviceTokens } from '@bubbles/auth/service-tokens.ts';
import { createAmqpBus } from '@bubbles/bus/amqp/amqp.ts';
import { createInternalClient } from '@bubbles/http/client/internal-client.ts';
import { systemClock } from '@bubbles/kernel/clock.ts';
import { systemIds } from '@bubbles/kernel/ids.ts';
import type { Stored } from '@bubbles/store/aggregates.ts';
import type { Collection } from '@bubbles/store/collection.ts';
import { openEmbedded } from '@bubbles/store-embedded/open-embedded.ts';
import { SILENT_LOG } from '@bubbles/testing/http.ts';
import { type Actions, actions } from '../../deploy/sandbox/src/control/actions.ts';
import { type IdentityAdmin, identityAdmin } from '../../deploy/sandbox/src/control/identity-http.ts';
import { meetingsAdmin } from '../../deploy/sandbox/src/control/meetings-http.ts';
import type { PipelineComment, PipelineThread } from '../../deploy/sandbox/src/pipeline/comments.ts';
import type { Directory } from '../../deploy/sandbox/src/pipeline/people.ts';
import { startPipeline } from '../../deploy/sandbox/src/pipeline/pipeline.ts';
import type { PipelineBubble } from '../../deploy/sandbox/src/pipeline/recordings.ts';

export interface OutsideOptions {
  readonly amqpUrl: string;
  readonly identityUrls: readonly string[];
  /** Nobody is there when absent. */
  readonly meetingsUrls?: readonly string[];
  readonly operatorKeyFile: string;
  /** Who knows the people that recordings name; identity when absent. */
  readonly directory?: Directory;
}

/** What is outside of the product when it runs as processes: the operator, and the recording pipeline with a store of its own. */
export interface Outside {
  readonly identity: IdentityAdmin;
  readonly actions: Actions;
  /** Everything that the pipeline has stated. */
  readonly stated: Stated;
  /** Resolves when the broker holds every fact. */
  settle(): Promise<void>;
  close(): Promise<void>;
}

export interface Stated {
  readonly bubbles: Collection<Stored<PipelineBubble>>;
  readonly threads: Collection<Stored<PipelineThread>>;
  readonly comments: Collection<Stored<PipelineComment>>;
}

const NOBODY = 'http://127.0.0.1:9';

export const openOutside = async (options: OutsideOptions): Promise<Outside> => {
  const { amqpUrl, identityUrls, meetingsUrls = [NOBODY], operatorKeyFile, directory } = options;
  const [clock, ids, log] = [systemClock(), systemIds(), SILENT_LOG];
  const tokens = serviceTokens({ caller: 'operator', key: createPrivateKey(readFileSync(operatorKeyFile)), clock });
  const atIdentity = createInternalClient({ callee: 'identity-and-oauth', baseUrls: identityUrls, tokens });
  const atMeetings = createInternalClient({ callee: 'meetings-bot-gateway', baseUrls: meetingsUrls, tokens });
  const [identity, meetings] = [identityAdmin(atIdentity), meetingsAdmin(atMeetings)];
  const bus = createAmqpBus({ url: amqpUrl, service: 'recording-pipeline', clock, log });
  const store = openEmbedded({ path: ':memory:', log });
  const database = store.database('recording-pipeline');
  const pipeline = await startPipeline({ clock, ids, log, bus, database }, directory ?? identity);
  return {
    identity,
    actions: actions({ ...pipeline, identity, meetings, ids }),
    stated: {
      bubbles: database.collection('recordings'),
      threads: database.collection('threads'),
      comments: database.collection('comments'),
    },
    settle: () => pipeline.settle(),
    async close() {
      await pipeline.stop();
      await Promise.all([bus.close(), atIdentity.close(), atMeetings.close()]);
      await store.close();
    },
  };
};
