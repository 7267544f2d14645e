import { BubbleRemovedV1 } from '@bubbles/contracts/events/recording-events.ts';
import { fakeClock } from '@bubbles/testing/fake-clock.ts';
import { memoryDatabase } from '@bubbles/testing/memory-database.ts';
import { eventHandlers } from '@bubbles/webhooks-dispatcher/adapters/bus/event-handlers.ts';
import { openStores } from '@bubbles/webhooks-dispatcher/adapters/store/stores.ts';
import type { App } from '@bubbles/webhooks-dispatcher/app.ts';
import { eventId } from '@bubbles/webhooks-dispatcher/domain/ids.ts';
import { dropBodies } from '@bubbles/webhooks-dispatcher/use-cases/retention.ts';
import { describe, expect, it } from '@jest/globals';
import { anEvent } from '../../../services/webhooks-dispatcher/test/builders.ts';
import { bubble } from '../facts.ts';
import { expectMessage } from '../messages.ts';
import { pactBetween } from '../pacts.ts';

describe('the dispatcher hears that a recording was removed', () => {
  it('[EVT-01] and drops the bodies of its events', async () => {
    const clock = fakeClock();
    const kept = openStores(memoryDatabase());
    await kept.ensureIndexes();
    const id = eventId(bubble.bubble_id, 'bubble.ready');
    await kept.events.insert(anEvent({ id }));
    // The consumer calls nothing else of the app.
    const app = { dropBodies: dropBodies({ ...kept, clock }) } as App;
    await expectMessage(pactBetween('webhooks-dispatcher', 'recording-pipeline'), {
      definition: BubbleRemovedV1,
      data: { ...bubble, revision: 2 },
      eventHandlers: eventHandlers(app),
    });
    expect((await kept.events.bodies([id])).get(id)).toBeNull();
  });
});
