import { webhooksDispatcher } from '@bubbles/webhooks-dispatcher/service.ts';
import { settings } from '../harness/in-child.ts';
import type { ServiceBehindIdentity } from './meetings.ts';
import { serveService } from './serve-service.ts';

const { identityUrl, serviceKey } = settings<ServiceBehindIdentity>();
/** Nothing gets ready. */
const NOBODY = 'http://127.0.0.1:9';

await serveService({
  definition: webhooksDispatcher,
  environment: { IDENTITY_URLS: identityUrl, BUBBLES_QUERY_URLS: NOBODY, SERVICE_KEY: serviceKey, WEBHOOK_MAX_PER_USER: '10000' },
  seed: () => Promise.resolve(null),
});
