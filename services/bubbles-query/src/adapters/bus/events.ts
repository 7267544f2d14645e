import { outgoing } from '@bubbles/bus/outgoing.ts';
import type { Bubble as BubbleBody } from '@bubbles/contracts/api/bubble.ts';
import { BubbleReadyV1 } from '@bubbles/contracts/events/service-events.ts';
import type { Bubble } from '../../domain/bubble.ts';
import { accountIds, type Directory } from '../../domain/person.ts';
import type { BubbleReady } from '../../ports.ts';

type PresentBubble = (bubble: Bubble, view: { readonly directory: Directory; readonly seesAddresses: boolean }) => BubbleBody;

/** The id is that of the fact: a bubble becomes ready once, so a message that is sent again counts once. */
export const bubbleReady =
  (presentBubble: PresentBubble): BubbleReady =>
  (bubble, directory, readyAt) => {
    const { participants = [], author = null, teamId = null, channelId = null } = bubble.details ?? {};
    const data = {
      bubble: presentBubble(bubble, { directory, seesAddresses: true }),
      participant_user_ids: accountIds(participants),
      author_id: author?.userId ?? null,
      team_id: teamId,
      channel_id: channelId,
      ready_at: readyAt.toISOString(),
    };
    return outgoing(BubbleReadyV1, data, { id: `ready-${bubble.id}`, subject: bubble.id });
  };
