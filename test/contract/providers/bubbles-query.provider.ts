import { bubblesQuery } from '@bubbles/bubbles-query/service.ts';
import { BubbleCreatedV1, MediaProcessedV1, NotesGeneratedV1, TranscriptCompletedV1 } from '@bubbles/contracts/events/recording-events.ts';
import type { Service } from '@bubbles/host/service.ts';
import type { InternalClient } from '@bubbles/http/client/internal-client.ts';
import { fakeClock } from '@bubbles/testing/fake-clock.ts';
import { recordingBus } from '@bubbles/testing/recording-bus.ts';
import { ABSENT_PEER, startTestService, type TestService } from '@bubbles/testing/service-under-test.ts';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { AT, USER_ID } from '../examples.ts';
import { details, media, notes, transcript } from '../facts.ts';
import { publish } from '../messages.ts';
import { verify } from '../verify.ts';

/** Identity with one account. */
const identity: InternalClient = {
  ...ABSENT_PEER,
  get: (_, { schema }) =>
    Promise.resolve(
      schema.parse({ version: 1, accounts: [{ user_id: USER_ID, name: 'Ada', email: null, revision: 1 }], next_after: null }),
    ),
};
const READY = 'bubbles.bubble.ready.v1';

describe('bubbles-query', () => {
  const bus = recordingBus();
  let service: Service;
  let http: TestService;

  beforeAll(async () => {
    http = await startTestService(bubblesQuery, { clock: fakeClock(new Date(AT)), bus, peers: { 'identity-and-oauth': identity } });
    service = http.service;
  });
  afterAll(() => http.stop());

  const aReadyBubble = async () => {
    await publish(service.eventHandlers, BubbleCreatedV1, details);
    await publish(service.eventHandlers, MediaProcessedV1, media);
    await publish(service.eventHandlers, TranscriptCompletedV1, transcript);
    await publish(service.eventHandlers, NotesGeneratedV1, notes);
    await service.settle();
  };

  it('keeps its pacts', async () => {
    const verified = verify({
      provider: 'bubbles-query',
      providerBaseUrl: http.url,
      stateHandlers: { 'a bubble with a participant': aReadyBubble, 'what operators act on': () => Promise.resolve() },
      messageProviders: {
        [READY]: async () => {
          await aReadyBubble();
          return bus.published.find(({ type }) => type === READY);
        },
      },
    });
    await expect(verified).resolves.toBeUndefined();
  }, 60_000);
});
