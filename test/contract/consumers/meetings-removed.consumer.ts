import { BubbleRemovedV1 } from '@bubbles/contracts/events/recording-events.ts';
import { eventHandlers } from '@bubbles/meetings-bot-gateway/adapters/bus/event-handlers.ts';
import type { App } from '@bubbles/meetings-bot-gateway/app.ts';
import { describe, expect, it } from '@jest/globals';
import { bubble } from '../facts.ts';
import { expectMessage } from '../messages.ts';
import { pactBetween } from '../pacts.ts';

describe('meetings hears that a recording was removed', () => {
  it('[MEET-09] and removes its file', async () => {
    const removed: string[] = [];
    // The consumer calls nothing else of the app.
    const app = { removeMedia: (id: string) => Promise.resolve(void removed.push(id)) } as App;
    await expectMessage(pactBetween('meetings-bot-gateway', 'recording-pipeline'), {
      definition: BubbleRemovedV1,
      data: { ...bubble, revision: 2 },
      eventHandlers: eventHandlers(app),
    });
    expect(removed).toEqual([bubble.bubble_id]);
  });
});
