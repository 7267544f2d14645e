import { bubblesQuery } from '@bubbles/bubbles-query/service.ts';
import { settings } from '../harness/in-child.ts';
import { type SeedPlan, seedBubbles } from './seed-bubbles.ts';
import { serveService } from './serve-service.ts';

export interface BubblesSettings {
  readonly seed: SeedPlan;
  readonly identityUrl: string;
  readonly serviceKey: string;
}

const { seed, identityUrl, serviceKey } = settings<BubblesSettings>();

await serveService({
  definition: bubblesQuery,
  environment: { IDENTITY_URLS: identityUrl, SERVICE_KEY: serviceKey },
  seed: (infra) => seedBubbles(infra, seed),
});
