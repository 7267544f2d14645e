import { meetingsBotGateway } from '@bubbles/meetings-bot-gateway/service.ts';
import { settings } from '../harness/in-child.ts';
import { serveService } from './serve-service.ts';

export interface ServiceBehindIdentity {
  readonly identityUrl: string;
  readonly serviceKey: string;
}

const { identityUrl, serviceKey } = settings<ServiceBehindIdentity>();

await serveService({
  definition: meetingsBotGateway,
  environment: { IDENTITY_URLS: identityUrl, SERVICE_KEY: serviceKey, MEETINGS_PER_USER_AND_HOUR: '1000' },
  seed: () => Promise.resolve(null),
});
