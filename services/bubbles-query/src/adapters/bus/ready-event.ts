import { type OutgoingEvent, outgoing } from '@bubbles/bus/outgoing.ts';
import type { Bubble as BubbleBody } from '@bubbles/contracts/api/bubble.ts';
import { BubbleReadyV1 } from '@bubbles/contracts/events/bubble-events.ts';
import type { Bubble } from '../../domain/bubble.ts';
import { accountIds, type Directory } from '../../domain/person.ts';

/** A bubble as the wire has it. */
type PresentBubble = (bubble: Bubble, view: { readonly directory: Directory; readonly seesAddresses: boolean }) => BubbleBody;

/** The id is the fact's own: told twice, it is one event. */
export const readyEvent =
  (presentBubble: PresentBubble) =>
  (bubble: Bubble, directory: Directory, readyAt: Date): OutgoingEvent => {
    const { participants = [], author = null, teamId = null, channelId = null } = bubble.details ?? {};
    return outgoing(
      BubbleReadyV1,
      {
        bubble: presentBubble(bubble, { directory, seesAddresses: true }),
        participant_user_ids: accountIds(participants),
        author_id: author?.userId ?? null,
        team_id: teamId,
        channel_id: channelId,
        ready_at: readyAt.toISOString(),
      },
      { id: `ready-${bubble.id}`, subject: bubble.id },
    );
  };
