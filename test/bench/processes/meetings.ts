import type { Infra } from '@bubbles/host/service.ts';
import { openStores } from '@bubbles/meetings-bot-gateway/adapters/store/stores.ts';
import { meetingsBotGateway } from '@bubbles/meetings-bot-gateway/service.ts';
import { aJoin } from '../../../services/meetings-bot-gateway/test/builders.ts';
import { settings } from '../harness/in-child.ts';
import { serveService } from './serve-service.ts';

export interface ServiceBehindIdentity {
  readonly identityUrl: string;
  readonly serviceKey: string;
}

export interface MeetingsSettings extends ServiceBehindIdentity {
  /** Joins that run, of a provider that proves its webhooks with this secret; absent for the simulator alone. */
  readonly provider?: { readonly joins: number; readonly secret: string };
}

const { identityUrl, serviceKey, provider } = settings<MeetingsSettings>();

/** It is not there: what its notetakers do is not measured. */
const PROVIDER = {
  NOTETAKERS: 'google_meet=recall',
  RECALL_URL: 'http://127.0.0.1:9',
  RECALL_API_KEY: 'key',
  RECALL_WEBHOOK_SECRET: `whsec_${provider?.secret}`,
};
const AN_HOUR_MS = 3_600_000;

const seed = async (infra: Infra): Promise<readonly string[]> => {
  const { joins, ensureIndexes } = openStores({ ...infra, source: meetingsBotGateway.name, onCommit: () => undefined });
  await ensureIndexes();
  const ids = Array.from({ length: provider?.joins ?? 0 }, (_, n) => `mj_${n}`);
  const now = infra.clock.now();
  const watched = { provider: 'recall', status: 'recording', work: 'watch', createdAt: now, updatedAt: now } as const;
  const dueAt = new Date(now.getTime() + AN_HOUR_MS);
  for (const id of ids) await joins.insert({ ...aJoin({ id, ...watched }), runningKey: id, providerRef: `run-of-${id}`, dueAt }, []);
  return ids;
};

await serveService({
  definition: meetingsBotGateway,
  environment: {
    IDENTITY_URLS: identityUrl,
    SERVICE_KEY: serviceKey,
    MEETINGS_PER_USER_AND_HOUR: '1000',
    ...(provider && PROVIDER),
  },
  seed,
});
