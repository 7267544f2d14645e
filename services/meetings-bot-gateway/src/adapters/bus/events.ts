import { outgoing } from '@bubbles/bus/outgoing.ts';
import { JoinAdvancedV1, RecordingCapturedV1 } from '@bubbles/contracts/events/meeting-events.ts';
import { bubbleIdOf } from '../../domain/join.ts';
import type { JoinAdvanced, Participant, RecordingCaptured } from '../../ports.ts';

/** A join comes to each status once. */
export const joinAdvanced: JoinAdvanced = ({ id, teamId, platform, status, fatalReason, updatedAt }) =>
  outgoing(
    JoinAdvancedV1,
    { join_id: id, team_id: teamId, platform, status, fatal_reason: fatalReason, at: updatedAt.toISOString() },
    { id: `${id}:${status}`, subject: id },
  );

const presentParticipant = ({ userId, name, email, isExternal }: Participant) => ({
  user_id: userId,
  name,
  email,
  is_external: isExternal,
});

/** The id is that of the fact, so that a message that is sent again counts once. */
export const recordingCaptured: RecordingCaptured = ({ id, teamId, platform, createdAt }, recording) => {
  const { title, startedAt, durationSeconds, author, participants, segments, videoUrl } = recording;
  const data = {
    bubble_id: bubbleIdOf(id),
    join_id: id,
    team_id: teamId,
    title,
    created_at: (startedAt ?? createdAt).toISOString(),
    author: presentParticipant(author),
    participants: participants.map(presentParticipant),
    platform,
    started_at: startedAt?.toISOString() ?? null,
    video_url: videoUrl,
    has_audio: true,
    duration_seconds: durationSeconds,
    segments:
      segments?.map(({ speaker, text, startSeconds, endSeconds }) => ({
        speaker: speaker === null ? null : { id: null, name: speaker },
        text,
        start_time_seconds: startSeconds,
        end_time_seconds: endSeconds,
      })) ?? null,
  };
  return outgoing(RecordingCapturedV1, data, { id: `${id}:captured`, subject: id });
};
