import { BubbleReadyV1 } from '@bubbles/contracts/events/bubble-events.ts';
import type { InternalClient } from '@bubbles/shared/http/internal-client.ts';
import { cursorCodec } from '@bubbles/shared/keyset.ts';
import type { Loop } from '@bubbles/shared/loop.ts';
import type { Infra, Service } from '@bubbles/shared/service.ts';
import { outboxRelay } from '@bubbles/shared/store/outbox-relay.ts';
import { CONSUMER, consumers } from './adapters/bus/consumers.ts';
import { readyEvent } from './adapters/bus/ready-event.ts';
import { cursors } from './adapters/http/cursors.ts';
import { presenter } from './adapters/http/present.ts';
import { routes } from './adapters/http/routes.ts';
import { accounts } from './adapters/services/accounts.ts';
import { openStores } from './adapters/store/stores.ts';
import { createApp } from './app.ts';
import type { Config } from './config.ts';

/** The services that bubbles-query asks. */
export interface Peers {
  readonly identity: InternalClient;
}

export function createBubblesQuery(config: Config, infra: Infra, { identity }: Peers): Service {
  let relay: Loop | null = null;
  const stores = openStores({ ...infra, source: CONSUMER, onCommit: () => relay?.poke() });
  const present = presenter(config);
  const app = createApp({ ...stores, accounts: accounts(identity), clock: infra.clock, bubbleReady: readyEvent(present.bubble) });
  return {
    name: CONSUMER,
    routes: routes(app, { present, cursors: cursors(cursorCodec({ keys: config.cursorKeys })) }),
    subscriptions: consumers(app),
    jobs: [],
    async start() {
      await stores.ensureIndexes();
      relay = outboxRelay({
        ...infra,
        collections: stores.relayed,
        definitions: [BubbleReadyV1],
        releaseAtStart: config.releaseLeasesAtStart,
      });
    },
    async settle() {
      relay?.poke();
      await relay?.idle();
    },
    async stop() {
      await relay?.stop();
    },
  };
}
