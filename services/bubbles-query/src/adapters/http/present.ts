import { createHmac } from 'node:crypto';
import type { Bubble as BubbleBody, BubblePerson, BubbleSummary } from '@bubbles/contracts/api/bubble.ts';
import type { Comment as CommentBody } from '@bubbles/contracts/api/comment.ts';
import type { Transcript as TranscriptBody, TranscriptSegment } from '@bubbles/contracts/api/transcript.ts';
import type { App } from '../../app.ts';
import type { Bubble } from '../../domain/bubble.ts';
import type { ShownComment } from '../../domain/comment.ts';
import { addressKey, current, type Directory, externalDomains, type Person } from '../../domain/person.ts';
import { shortIdOf } from '../../domain/short-id.ts';
import { asText, type Segment } from '../../domain/transcript.ts';
import type { ListRow } from '../../ports.ts';

const ID_CHARACTERS = 24;

interface PeopleView {
  readonly bubbleId: string;
  readonly directory: Directory;
  readonly seesAddresses: boolean;
  /** Key for the ids of people without an account. */
  readonly personKey: Buffer;
}

/** The recorded address and the account's current one. */
const addressesOf = (person: Person, directory: Directory): string[] =>
  [person.email, current(person, directory).email].flatMap((email) => (email === null ? [] : addressKey(email)));

/** Without those who are here once more with an account. */
const withoutDoubles = (people: readonly Person[], directory: Directory): readonly Person[] => {
  const ofAccounts = new Set(people.flatMap((person) => (person.userId === null ? [] : addressesOf(person, directory))));
  return people.filter(({ userId, email }) => userId !== null || email === null || !ofAccounts.has(addressKey(email)));
};

/** Those without an address are told apart by name and place. */
const markOf = ({ name, email }: Person, namesakesBefore: number): string =>
  email === null ? `name\n${name ?? ''}\n${namesakesBefore}` : `email\n${addressKey(email)}`;

const outsiderId = (mark: string, { bubbleId, personKey }: PeopleView): string =>
  `ext_${createHmac('sha256', personKey).update(`${bubbleId}\n${mark}`).digest('base64url').slice(0, ID_CHARACTERS)}`;

/** Somebody without an account has an id that is stable for the bubble and the address, and says nothing of it. */
const presentPerson = (person: Person, view: PeopleView, namesakesBefore = 0): BubblePerson => {
  const { name, email } = current(person, view.directory);
  return { id: person.userId ?? outsiderId(markOf(person, namesakesBefore), view), name, email: view.seesAddresses ? email : null };
};

/** Each once, of people without doubles. */
const presentPeople = (people: readonly Person[], view: PeopleView): BubblePerson[] => {
  const namesakes = new Map<string, number>();
  const presented = new Map<string, BubblePerson>();
  for (const person of people) {
    const before = namesakes.get(person.name ?? '') ?? 0;
    if (person.userId === null && person.email === null) namesakes.set(person.name ?? '', before + 1);
    const one = presentPerson(person, view, before);
    const known = presented.get(one.id);
    presented.set(one.id, known === undefined ? one : { ...known, name: known.name ?? one.name });
  }
  return [...presented.values()];
};

const timeOrNull = (at: Date | null): string | null => (at === null ? null : at.toISOString());

/** What links and ids are made with. */
export interface Presenting {
  /** Origin and path that deep links begin with, without a trailing slash. */
  readonly appBaseUrl: string;
  readonly personKey: Buffer;
}

const bubbleUrl = (id: string, { appBaseUrl }: Pick<Presenting, 'appBaseUrl'>): string => `${appBaseUrl}/b/${shortIdOf(id)}`;

export const presentRow = ({ id, creatorId, summary, ...row }: ListRow, presenting: Presenting): BubbleSummary => ({
  id,
  type: row.type,
  title: row.title,
  url: bubbleUrl(id, presenting),
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
});

const presentSegment = ({ speaker, text, startTimeSeconds, endTimeSeconds }: Segment): TranscriptSegment => ({
  speaker: speaker && { id: speaker.id, name: speaker.name },
  text,
  start_time_seconds: startTimeSeconds,
  end_time_seconds: endTimeSeconds,
});

export const presentTranscript = (
  { bubbleId, segments }: Awaited<ReturnType<App['getTranscript']>>,
  format: TranscriptBody['format'],
): TranscriptBody =>
  format === 'json'
    ? { bubble_id: bubbleId, format, segments: segments.map(presentSegment) }
    : { bubble_id: bubbleId, format, text: asText(segments) };

export const presentComment = (comment: ShownComment, directory: Directory, presenting: Presenting): CommentBody => ({
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
  url: `${bubbleUrl(comment.bubbleId, presenting)}?comment=${encodeURIComponent(comment.id)}`,
});

type BubbleView = Pick<PeopleView, 'directory' | 'seesAddresses'>;

export const presentBubble = (
  { id, details, media, transcript, notes, commentCount }: Bubble,
  { directory, seesAddresses }: BubbleView,
  presenting: Presenting,
): BubbleBody => {
  if (details === null) throw new TypeError('a bubble without details is read by nobody');
  const view = { bubbleId: id, directory, seesAddresses, personKey: presenting.personKey };
  const { meeting, author } = details;
  const participants = withoutDoubles(details.participants, directory);
  /** Without media there is nothing to process. */
  const whenUnreported = details.hasMedia ? false : null;
  return {
    id,
    type: details.type,
    title: details.title,
    url: bubbleUrl(id, presenting),
    created_at: timeOrNull(details.createdAt),
    team_id: details.teamId,
    channel_id: details.channelId,
    channel_name: details.channelName,
    author: author && presentPerson(author, view),
    participants: presentPeople(participants, view),
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
    external_participant_email_domains: seesAddresses ? externalDomains(participants, directory) : [],
    meeting:
      details.type === 'meeting_recording'
        ? { platform: meeting?.platform ?? null, start_time: timeOrNull(meeting?.startTime ?? null) }
        : null,
  };
};
