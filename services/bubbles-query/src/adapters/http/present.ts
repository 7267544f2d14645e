import type { Bubble as BubbleBody, BubbleSummary } from '@bubbles/contracts/api/bubble.ts';
import type { Comment as CommentBody } from '@bubbles/contracts/api/comment.ts';
import type { TranscriptSegment } from '@bubbles/contracts/api/transcript.ts';
import type { Bubble } from '../../domain/bubble.ts';
import type { ShownComment } from '../../domain/comment.ts';
import { type Directory, externalDomains } from '../../domain/person.ts';
import { shortIdOf } from '../../domain/short-id.ts';
import type { Segment } from '../../domain/transcript.ts';
import type { ListRow } from '../../ports.ts';
import { type PeoplePresenter, type PeopleView, peoplePresenter } from './people.ts';

const timeOrNull = (at: Date | null): string | null => (at === null ? null : at.toISOString());

interface PresenterOptions {
  /** Origin and path that deep links begin with, without a trailing slash. */
  readonly appBaseUrl: string;
  readonly personKey: Buffer;
}

/** The only place that writes the wire's names. */
export function presenter({ appBaseUrl, personKey }: PresenterOptions) {
  const people = peoplePresenter(personKey);
  const bubbleUrl = (id: string): string => `${appBaseUrl}/b/${shortIdOf(id)}`;
  return {
    bubble: (bubble: Bubble, view: Omit<PeopleView, 'bubbleId'>): BubbleBody =>
      presentBubble(bubble, { ...view, bubbleId: bubble.id }, { people, bubbleUrl }),
    row: ({ id, creatorId, summary, ...row }: ListRow): BubbleSummary => ({
      id,
      type: row.type,
      title: row.title,
      url: bubbleUrl(id),
      created_at: timeOrNull(row.createdAt),
      team_id: row.teamId,
      channel_id: row.channelId,
      author_id: creatorId,
      thumbnail_url: row.thumbnailUrl,
      duration_seconds: row.durationSeconds,
      comment_count: row.commentCount,
      expires_at: timeOrNull(row.expiresAt),
      has_summary: summary !== null,
      summary,
    }),
    segment: ({ speaker, text, startTimeSeconds, endTimeSeconds }: Segment): TranscriptSegment => ({
      speaker: speaker && { id: speaker.id, name: speaker.name },
      text,
      start_time_seconds: startTimeSeconds,
      end_time_seconds: endTimeSeconds,
    }),
    comment: (comment: ShownComment, directory: Directory): CommentBody => ({
      id: comment.id,
      thread_id: comment.threadId,
      bubble_id: comment.bubbleId,
      kind: comment.kind,
      body: comment.kind === 'text' ? comment.body : null,
      video_url: comment.videoUrl,
      image_url: comment.imageUrl,
      created_at: comment.createdAt.toISOString(),
      author: { id: comment.author.id, name: (directory.get(comment.author.id) ?? comment.author).name },
      is_pinned: comment.pinned,
      timestamp_seconds: comment.timestampSeconds,
      url: `${bubbleUrl(comment.bubbleId)}?comment=${encodeURIComponent(comment.id)}`,
    }),
  };
}
export type Presenter = ReturnType<typeof presenter>;

interface Tools {
  readonly people: PeoplePresenter;
  readonly bubbleUrl: (id: string) => string;
}

function presentBubble(
  { id, details, media, transcript, notes, commentCount }: Bubble,
  view: PeopleView,
  { people, bubbleUrl }: Tools,
): BubbleBody {
  if (details === null) throw new TypeError('a bubble without details is read by nobody');
  const { meeting, participants, author } = details;
  /** Without media there is nothing to process. */
  const whenUnreported = details.hasMedia ? false : null;
  return {
    id,
    type: details.type,
    title: details.title,
    url: bubbleUrl(id),
    created_at: timeOrNull(details.createdAt),
    team_id: details.teamId,
    channel_id: details.channelId,
    channel_name: details.channelName,
    author: author && people.one(author, view),
    participants: people.all(participants, view),
    media: {
      video_url: media?.videoUrl ?? null,
      thumbnail_url: media?.thumbnailUrl ?? null,
      screenshot_url: media?.screenshotUrl ?? null,
      duration_seconds: media?.durationSeconds ?? null,
      is_processed: media === null ? whenUnreported : media.isProcessed,
    },
    summary: notes?.summary ?? null,
    action_items: notes?.actionItems ?? null,
    has_transcript: transcript !== null,
    comment_count: commentCount,
    is_public: details.isPublic,
    embed_code: details.embedCode,
    expires_at: timeOrNull(details.expiresAt),
    archived: details.archived,
    creator_id: details.creatorId,
    response_required: details.responseRequired,
    has_external_participants: participants.some(({ isExternal }) => isExternal),
    external_participant_email_domains: view.seesAddresses ? externalDomains(participants, view.directory) : [],
    meeting:
      details.type === 'meeting_recording'
        ? { platform: meeting?.platform ?? null, start_time: timeOrNull(meeting?.startTime ?? null) }
        : null,
  };
}
