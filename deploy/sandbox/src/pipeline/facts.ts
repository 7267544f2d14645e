import type {
  MediaProcessedV1,
  NotesGeneratedV1,
  RecordedBubble,
  TranscriptCompletedV1,
} from '@bubbles/contracts/events/recording-events.ts';
import type { z } from 'zod';
import type { BubbleFields, Stage } from './fields.ts';

type Media = z.infer<typeof MediaProcessedV1.schema>;
type Transcript = z.infer<typeof TranscriptCompletedV1.schema>;
type Notes = z.infer<typeof NotesGeneratedV1.schema>;
type Person = RecordedBubble['participants'][number];

/** What the facts of a recording are made from: the fields of the call, and the people and channel that they name. */
export interface Recording {
  readonly id: string;
  readonly fields: BubbleFields;
  readonly author: Person | null;
  readonly participants: readonly Person[];
  readonly channelName: string | null;
  /** Used when `created_at` is absent. */
  readonly madeAt: string;
}

export interface Facts {
  readonly details: Omit<RecordedBubble, 'revision'>;
  readonly media: Omit<Media, 'revision'> | null;
  readonly transcript: Omit<Transcript, 'revision'> | null;
  readonly notes: Omit<Notes, 'revision'> | null;
}

const TITLES = { meeting_recording: 'Team meeting', screen_recording: 'Screen recording', custom_image: 'Image' } as const;
const MEDIA_HOST = 'https://media.example.com';
const SECONDS_PER_SEGMENT = 15;
const or = <T>(given: T | undefined, made: T): T => (given === undefined ? made : given);

const createdAt = ({ fields, madeAt }: Recording) => or(fields.created_at, madeAt);

function details(recording: Recording): Facts['details'] {
  const { id, fields, author, participants, channelName } = recording;
  const meeting = { platform: 'google_meet', start_time: createdAt(recording) };
  return {
    bubble_id: id,
    type: fields.type,
    title: or(fields.title, TITLES[fields.type]),
    team_id: or(fields.team_id, null),
    channel_id: or(fields.channel_id, null),
    channel_name: channelName,
    created_at: createdAt(recording),
    author,
    creator_id: or(fields.creator_id, author?.user_id ?? null),
    participants: [...participants],
    is_public: or(fields.is_public, false),
    archived: or(fields.archived, false),
    draft: or(fields.draft, false),
    template: or(fields.template, false),
    has_media: or(fields.has_media, true),
    expires_at: or(fields.expires_at, null),
    response_required: or(fields.response_required, false),
    embed_code: or(fields.embed_code, `<iframe src="${MEDIA_HOST}/${id}/embed" allowfullscreen></iframe>`),
    meeting: fields.type === 'meeting_recording' ? or(fields.meeting, meeting) : null,
  };
}

export function madeSegments({ author, participants }: Pick<Recording, 'author' | 'participants'>): Transcript['segments'] {
  const people = participants.length > 0 ? participants : [author];
  const lines = ['Good morning, shall we begin?', 'Yes, I have the numbers of last week here.', 'Then let us go through them one by one.'];
  return lines.map((text, n) => {
    const person = people[n % people.length] ?? null;
    return {
      speaker: person && { id: person.user_id, name: person.name },
      text,
      start_time_seconds: n * SECONDS_PER_SEGMENT,
      end_time_seconds: (n + 1) * SECONDS_PER_SEGMENT,
    };
  });
}

const hasMedia = ({ fields }: Recording) => or(fields.has_media, true);
/** Images, silent recordings and notes without media have none. */
const hasTranscript = (recording: Recording) =>
  hasMedia(recording) && recording.fields.type !== 'custom_image' && or(recording.fields.has_audio, true);

function media(recording: Recording): Facts['media'] {
  const { id, fields } = recording;
  if (!hasMedia(recording)) return null;
  const image = fields.type === 'custom_image';
  return {
    bubble_id: id,
    is_processed: or(fields.is_processed, true),
    has_audio: or(fields.has_audio, true) && !image,
    video_url: or(fields.video_url, image ? null : `${MEDIA_HOST}/${id}/video.mp4`),
    thumbnail_url: or(fields.thumbnail_url, `${MEDIA_HOST}/${id}/thumbnail.jpg`),
    screenshot_url: or(fields.screenshot_url, image ? `${MEDIA_HOST}/${id}/image.png` : null),
    duration_seconds: or(fields.duration_seconds, image ? null : (fields.segments?.at(-1)?.end_time_seconds ?? 3 * SECONDS_PER_SEGMENT)),
  };
}

const transcript = (recording: Recording): Facts['transcript'] =>
  hasTranscript(recording) ? { bubble_id: recording.id, segments: or(recording.fields.segments, madeSegments(recording)) } : null;

/** Images and notes without media have notes only when the call gives them. */
function notes(recording: Recording): Facts['notes'] {
  const { id, fields } = recording;
  const made = hasMedia(recording) && fields.type !== 'custom_image';
  if (!made && fields.summary === undefined && fields.action_items === undefined) return null;
  return {
    bubble_id: id,
    summary: or(fields.summary, made ? 'The team went through the numbers of last week and agreed on the next steps.' : null),
    action_items: or(fields.action_items, made ? 'Send the numbers to everybody.\nPlan the next review.' : null),
  };
}

/** The facts of a recording that has reached `stage`. */
export function factsAt(recording: Recording, stage: Stage): Facts {
  const reached = (needed: Stage) => RANK[stage] >= RANK[needed];
  return {
    details: details(recording),
    media: reached('processed') ? media(recording) : null,
    transcript: reached('transcribed') ? transcript(recording) : null,
    notes: reached('ready') ? notes(recording) : null,
  };
}

const RANK = { created: 0, processed: 1, transcribed: 2, ready: 3 } as const satisfies Record<Stage, number>;
export const furthest = (a: Stage, b: Stage): Stage => (RANK[a] >= RANK[b] ? a : b);
