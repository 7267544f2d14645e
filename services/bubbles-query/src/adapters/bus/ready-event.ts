import { BubbleReadyV1 } from '@bubbles/contracts/events/bubble-events.ts';
import { type OutgoingEvent, outgoing } from '@bubbles/shared/bus/outgoing.ts';
import type { Bubble } from '../../domain/bubble.ts';
import type { Directory } from '../../domain/person.ts';
import type { Presenter } from '../http/present.ts';

/** The id is the fact's own: told twice, it is one event. */
export const readyEvent =
  (present: Presenter) =>
  (bubble: Bubble, directory: Directory, readyAt: Date): OutgoingEvent => {
    const { participants = [], author = null, teamId = null, channelId = null } = bubble.details ?? {};
    return outgoing(
      BubbleReadyV1,
      {
        bubble: present.bubble(bubble, { directory, seesAddresses: true }),
        participant_user_ids: [...new Set(participants.flatMap(({ userId }) => userId ?? []))],
        author_id: author?.userId ?? null,
        team_id: teamId,
        channel_id: channelId,
        ready_at: readyAt.toISOString(),
      },
      { id: `ready-${bubble.id}`, subject: bubble.id },
    );
  };
