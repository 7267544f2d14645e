import { once } from 'node:events';
import { BubbleReadyV1 } from '@bubbles/contracts/events/bubble-events.ts';
import { outgoing, stamp } from '@bubbles/shared/bus/outgoing.ts';
import { systemClock } from '@bubbles/shared/clock.ts';
import { systemIds } from '@bubbles/shared/ids.ts';
import { masterKeySeal } from '@bubbles/shared/seal.ts';
import type { Database } from '@bubbles/shared/store/collection.ts';
import { openEmbedded } from '@bubbles/shared/store/embedded/open-embedded.ts';
import { openMongo } from '@bubbles/shared/store/mongo.ts';
import { SILENT_LOG } from '@bubbles/shared/testing/http.ts';
import { recordingBus } from '@bubbles/shared/testing/recording-bus.ts';
import { stores } from '@bubbles/webhooks-dispatcher/adapters/store/stores.ts';
import type { Config } from '@bubbles/webhooks-dispatcher/config.ts';
import { createWebhooksDispatcher } from '@bubbles/webhooks-dispatcher/service.ts';
import { Registry } from 'prom-client';
import { aBubble, aSubscription, readyEvent } from '../../../services/webhooks-dispatcher/test/builders.ts';
import { fakePeers } from '../../../services/webhooks-dispatcher/test/fake-peers.ts';

/** What a dispatcher of the test is told at its start. */
export interface DispatcherSettings {
  /** A data file, or a database of a MongoDB. */
  readonly store: { readonly file: string } | { readonly url: string; readonly name: string };
  readonly receiverUrl: string;
  readonly subscriptions: number;
  readonly secret: string;
}

export type Order = { readonly bubble: string } | { readonly count: true };
export type Report = { readonly ready: true } | { readonly taken: string } | { readonly open: number };

const OWNER = 'ada';
const SEAL_KEYS = [{ id: 'k1', key: Buffer.alloc(32, 1) }];
/** Short, so that what a killed process held is soon due again. */
const CONFIG: Config = {
  headerName: 'Service',
  userAgent: 'chaos/1',
  sealKeys: SEAL_KEYS,
  cursorKeys: { current: Buffer.alloc(32, 2), previous: null },
  receivers: { allow: [], deny: [], http: false, loopback: true, extraCa: [] },
  timing: { deadlineMs: 2000, connectMs: 1000, pollMs: 200 },
  limits: { perSubscription: 4, perOrigin: 64, perProcess: 256, reservedForFirst: 64, leaseMs: 4000 },
  releaseLeasesAtStart: false,
};
const END_OF_TIME = new Date('2999-01-01T00:00:00.000Z');

const tell = (report: Report) => process.send?.(report);

const openStore = (store: DispatcherSettings['store']): Database =>
  'file' in store
    ? openEmbedded({ path: store.file, log: SILENT_LOG }).database('bubbles_webhooks')
    : openMongo({ ...store, log: SILENT_LOG, clock: systemClock() });

const subscribe = async (database: Database, { subscriptions, receiverUrl, secret }: DispatcherSettings) => {
  const store = stores(database).subscriptions;
  const seal = masterKeySeal(SEAL_KEYS, systemIds().bytes);
  for (let n = 0; n < subscriptions; n += 1) {
    const id = `wh_${n}`;
    const secretSealed = seal.close(Buffer.from(secret), id);
    if ((await store.byIds([id])).size === 0) await store.insert(aSubscription({ id, ownerId: OWNER, url: receiverUrl, secretSealed }));
  }
};

/** A dispatcher as a process of its own that is there to be killed. The parent is its broker: it tells of a bubble until that was taken. */
const serve = async (settings: DispatcherSettings) => {
  const database = openStore(settings.store);
  const peers = fakePeers();
  peers.user(OWNER);
  peers.team('team');
  const infra = { clock: systemClock(), ids: systemIds(), log: SILENT_LOG, database, bus: recordingBus() };
  const service = createWebhooksDispatcher(CONFIG, infra, { ...peers, registry: new Registry() });
  await service.start();
  await subscribe(database, settings);
  const [fanOut] = service.subscriptions;
  process.on('message', async (order: Order) => {
    if ('count' in order) {
      tell({ open: (await stores(database).deliveries.countDue(END_OF_TIME)).due });
      return;
    }
    const data = readyEvent({ bubble: aBubble({ id: order.bubble }), participant_user_ids: [OWNER] });
    await fanOut?.handle(data, stamp(outgoing(BubbleReadyV1, data), { ...infra, source: BubbleReadyV1.publisher }));
    tell({ taken: order.bubble });
  });
  process.on('disconnect', () => process.exit(0));
  tell({ ready: true });
};

const [settings] = await once(process, 'message');
await serve(settings);
