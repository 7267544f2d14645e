import { BubbleCreatedV1, MediaProcessedV1, NotesGeneratedV1, TranscriptCompletedV1 } from '@bubbles/contracts/events/recording-events.ts';
import { fakeClock } from '@bubbles/testing/fake-clock.ts';
import { startTestHttp, type TestHttp } from '@bubbles/testing/http.ts';
import { recordingBus } from '@bubbles/testing/recording-bus.ts';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { memoryInfra } from '../../support/memory-infra.ts';
import { bubblesQuery } from '../../support/services.ts';
import { AT } from '../examples.ts';
import { details, media, notes, transcript } from '../facts.ts';
import { publish } from '../messages.ts';
import { verify } from '../verify.ts';

const READY = 'bubbles.bubble.ready.v1';

describe('bubbles-query', () => {
  const bus = recordingBus();
  const service = bubblesQuery(memoryInfra('bubbles_query', { clock: fakeClock(new Date(AT)), bus }));
  let http: TestHttp;

  beforeAll(async () => {
    await service.start();
    http = await startTestHttp({ name: service.name, routes: service.routes });
  });
  afterAll(async () => {
    await http.stop();
    await service.stop();
  });

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
      stateHandlers: { 'a bubble with a participant': aReadyBubble },
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
