import type { MeetingJoinCreated, MeetingJoinEvents, MeetingJoinStatus } from '@bubbles/contracts/api/meeting-join.ts';
import type { AdminJoin, MovedJoin, NotetakerReport, NotetakerRun, ReportedJoin } from '@bubbles/contracts/internal/meetings.ts';
import type { z } from 'zod';
import { bubbleIdOf, isInCall, type Join } from '../../domain/join.ts';
import { requesterOf } from '../../domain/requester.ts';
import type { SimulatedReport, SimulatedRun } from '../../ports.ts';

const TYPE = 'meeting_join';

/** `meetingUrl`: the caller's own link, rebuilt. */
export const presentCreated = ({ id, status, teamId, createdAt }: Join, meetingUrl: string): MeetingJoinCreated => ({
  id,
  type: TYPE,
  status,
  meeting_url: meetingUrl,
  team_id: teamId,
  created_at: createdAt.toISOString(),
});

export const presentStatus = ({ id, status, fatalReason, teamId, updatedAt }: Join): MeetingJoinStatus => ({
  id,
  type: TYPE,
  status,
  bot_in_call: isInCall(status),
  fatal_reason: fatalReason,
  team_id: teamId,
  updated_at: updatedAt.toISOString(),
});

export const presentHistory = ({ history, bubbleId }: Join): MeetingJoinEvents => ({
  data: history.map(({ status, at, reason }) => ({ status, created_at: at.toISOString(), reason })),
  bubble_id: bubbleId,
});

export const presentRun = ({
  joinId,
  meetingUrl,
  teamId,
  requestedAt,
  leftAt,
}: SimulatedRun & { readonly teamId: string }): z.infer<typeof NotetakerRun> => ({
  join_id: joinId,
  meeting_url: meetingUrl,
  team_id: teamId,
  requested_at: requestedAt.toISOString(),
  left_at: leftAt?.toISOString() ?? null,
});

const presentReported = ({ id, status, teamId, platform, requesterIds }: Join): z.infer<typeof ReportedJoin> => ({
  join_id: id,
  status,
  team_id: teamId,
  platform,
  requester_ids: requesterIds.map((requester) => requesterOf(requester).userId),
  bubble_id: status === 'done' ? bubbleIdOf(id) : null,
});

/** Without what the provider calls the run: with some providers that leads to the meeting. */
export const presentAdminJoin = (join: Join): z.infer<typeof AdminJoin> => ({
  ...presentReported(join),
  bubble_id: join.bubbleId,
  fatal_reason: join.fatalReason,
  provider: join.provider,
  work: join.work,
  due_at: join.dueAt.toISOString(),
  failed_tries: join.tries,
  created_at: join.createdAt.toISOString(),
  updated_at: join.updatedAt.toISOString(),
});

export const presentMoved = ({ join, videoUrl }: { readonly join: Join; readonly videoUrl: string | null }): z.infer<typeof MovedJoin> => ({
  ...presentReported(join),
  video_url: videoUrl,
});

export const reportOf = ({
  status,
  fatal_reason,
  title,
  participants,
  segments,
  duration_seconds,
  has_video,
}: NotetakerReport): SimulatedReport => ({
  hasVideo: has_video,
  status,
  reason: fatal_reason,
  title,
  participants,
  segments:
    segments?.map(({ speaker, text, start_time_seconds, end_time_seconds }) => ({
      speaker: speaker?.name ?? null,
      text,
      startSeconds: start_time_seconds,
      endSeconds: end_time_seconds,
    })) ?? null,
  durationSeconds: duration_seconds,
});
