import { BubbleReadyV1 } from '@bubbles/contracts/events/service-events.ts';
import { fakeClock } from '@bubbles/testing/fake-clock.ts';
import { memoryDatabase } from '@bubbles/testing/memory-database.ts';
import { eventHandlers } from '@bubbles/webhooks-dispatcher/adapters/bus/event-handlers.ts';
import { openStores } from '@bubbles/webhooks-dispatcher/adapters/store/stores.ts';
import type { App } from '@bubbles/webhooks-dispatcher/app.ts';
import { DEFAULT_QUOTA } from '@bubbles/webhooks-dispatcher/config.ts';
import type { NewDelivery } from '@bubbles/webhooks-dispatcher/ports.ts';
import { fanOut } from '@bubbles/webhooks-dispatcher/use-cases/fan-out.ts';
import { describe, expect, it } from '@jest/globals';
import { aSubscription } from '../../../services/webhooks-dispatcher/test/builders.ts';
import { AT, aBubble, CHANNEL_ID, TEAM_ID, USER_ID } from '../examples.ts';
import { expectMessage } from '../messages.ts';
import { pactBetween } from '../pacts.ts';

describe('the dispatcher hears that a bubble is ready', () => {
  it('[EVT-01][EVT-03] and queues a delivery for a participant who subscribed', async () => {
    const clock = fakeClock();
    const kept = openStores(memoryDatabase());
    await kept.ensureIndexes();
    await kept.subscriptions.insert(
      aSubscription({ ownerId: USER_ID, teamId: TEAM_ID, spaceId: CHANNEL_ID, filters: { onlyMyBubbles: true } }),
      DEFAULT_QUOTA,
    );
    const enqueue = async (all: readonly NewDelivery[]) => void (await kept.deliveries.insertEach(all.map(({ delivery }) => delivery)));
    // The consumer calls nothing else of the app.
    const app = { fanOut: fanOut({ ...kept, clock, enqueue, traces: { current: () => null } }) } as App;
    await expectMessage(pactBetween('webhooks-dispatcher', 'bubbles-query'), {
      definition: BubbleReadyV1,
      data: {
        bubble: aBubble,
        participant_user_ids: [USER_ID],
        author_id: USER_ID,
        team_id: TEAM_ID,
        channel_id: CHANNEL_ID,
        ready_at: AT,
      },
      eventHandlers: eventHandlers(app),
    });
    expect(await kept.deliveries.countDue(clock.now())).toMatchObject({ due: 1 });
  });
});
