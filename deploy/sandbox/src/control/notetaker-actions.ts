import { DomainError } from '@bubbles/kernel/errors.ts';
import { madeSegments } from '../pipeline/facts.ts';
import type { BubbleFields, NotetakerMove } from '../pipeline/fields.ts';
import type { Account, Directory } from '../pipeline/people.ts';
import type { Recordings } from '../pipeline/recordings.ts';
import type { MeetingsAdmin } from './meetings-http.ts';

interface Ports {
  readonly identity: Directory;
  readonly meetings: MeetingsAdmin;
  readonly recordings: Recordings;
}

const TITLE = 'Team meeting';
const nameOf = ({ name, email }: { readonly name: string | null; readonly email: string | null }) => ({ name, email });

/** What the simulated notetakers meet. A recording that they bring home is known to the pipeline, which writes its notes. */
export const notetakerActions = ({ identity, meetings, recordings }: Ports) => {
  const accountOf = async (id: string): Promise<Account> => {
    const account = await identity.account(id);
    if (account === null) throw new DomainError('invalid', 'participant_ids: no such user.');
    return account;
  };

  const reportOf = (move: NotetakerMove, named: readonly Account[]) => {
    const { status, fatal_reason = null, external_participants, has_video = true } = move;
    const people = [...named.map(nameOf), ...external_participants];
    const speakers = people.map((person) => ({ ...person, user_id: null, is_external: true }));
    const segments = move.segments ?? (status === 'done' ? madeSegments({ author: null, participants: speakers }) : null);
    const duration = move.duration_seconds === undefined ? (segments?.at(-1)?.end_time_seconds ?? null) : move.duration_seconds;
    const title = move.title === undefined ? TITLE : move.title;
    return { status, fatal_reason, title, participants: people, segments, duration_seconds: duration, has_video };
  };

  return {
    listNotetakers: meetings.notetakers,
    async moveNotetaker(joinId: string, move: NotetakerMove) {
      const named = await Promise.all([...new Set(move.participant_ids)].map(accountOf));
      const report = reportOf(move, named);
      const { status, bubble_id, team_id, platform, requester_ids, video_url } = await meetings.report(joinId, report);
      if (bubble_id !== null) {
        const [members, others] = [true, false].map((isMember) => named.filter(({ teamIds }) => teamIds.includes(team_id) === isMember));
        const fields: BubbleFields = {
          type: 'meeting_recording',
          title: report.title,
          team_id,
          participant_ids: [...requester_ids, ...(members ?? []).map(({ id }) => id)],
          external_participants: [...(others ?? []).map(nameOf), ...move.external_participants],
          segments: report.segments ?? [],
          duration_seconds: report.duration_seconds,
          video_url,
          thumbnail_url: null,
          embed_code: null,
          meeting: { platform, start_time: null },
          ...(move.summary !== undefined && { summary: move.summary }),
          ...(move.action_items !== undefined && { action_items: move.action_items }),
        };
        await recordings.adopt(bubble_id, fields);
      }
      return { join_id: joinId, status, bubble_id };
    },
  };
};
