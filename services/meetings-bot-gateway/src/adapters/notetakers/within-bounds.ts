import type { Clock } from '@bubbles/kernel/clock.ts';
import { type Notetaker, NotetakerError, type Recording, type Segment } from '../../ports.ts';

const MAX_NAME_CHARACTERS = 200;
const MAX_TITLE_CHARACTERS = 500;
const MAX_ADDRESS_CHARACTERS = 320;
/** Identity is asked about the addresses of all of them in one call. */
const MAX_PEOPLE = 500;
/** The event of a recording is one document, and so is a transcript where it is read. */
const MAX_TRANSCRIPT_CHARACTERS = 4 * 1024 * 1024;
const MAX_SEGMENTS = 50_000;
const DAY_SECONDS = 24 * 3600;
const LONGEST_SECONDS = 7 * DAY_SECONDS;
/** Clocks of providers may be a little ahead. */
const AHEAD_MS = 3_600_000;
const OLDEST_MS = 30 * DAY_SECONDS * 1000;
/**
 * What is not drawn, ends a line, or lets the rest of it be read as something else; tags and all but the first of several variation selectors, which
 * spell text that people do not see. The group takes flags such as that of Scotland, which are spelt with tags.
 */
const UNPRINTABLE =
  /(\p{RGI_Emoji_Tag_Sequence})|[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]|(?<=[\ufe00-\ufe0f\u{e0100}-\u{e01ef}])[\ufe00-\ufe0f\u{e0100}-\u{e01ef}]/gv;

/** People in a meeting choose their names, also those who were not invited. */
const plain = (text: string | null, maxCharacters: number): string | null => {
  const printable = text?.replace(UNPRINTABLE, '$1').trim() ?? '';
  return [...printable.slice(0, 2 * maxCharacters)].slice(0, maxCharacters).join('').trim() || null;
};

const seconds = (value: number): number => (value >= 0 ? Math.min(value, LONGEST_SECONDS) : 0);

const boundedRecording = ({ open, title, startedAt, durationSeconds, participants }: Recording, now: Date): Recording => {
  const age = startedAt === null ? Number.NaN : now.getTime() - startedAt.getTime();
  const people = participants
    .map(({ name, email }) => ({
      name: plain(name, MAX_NAME_CHARACTERS),
      email: email !== null && email.length <= MAX_ADDRESS_CHARACTERS ? plain(email, MAX_ADDRESS_CHARACTERS) : null,
    }))
    .filter(({ name, email }) => name !== null || email !== null);
  return {
    open,
    title: plain(title, MAX_TITLE_CHARACTERS),
    startedAt: age >= -AHEAD_MS && age <= OLDEST_MS ? startedAt : null,
    durationSeconds: durationSeconds !== null && durationSeconds >= 0 && durationSeconds <= LONGEST_SECONDS ? durationSeconds : null,
    participants: people.slice(0, MAX_PEOPLE),
  };
};

const boundedTranscript = (segments: readonly Segment[]): readonly Segment[] => {
  const characters = segments.reduce((sum, { text }) => sum + text.length, 0);
  if (characters > MAX_TRANSCRIPT_CHARACTERS || segments.length > MAX_SEGMENTS) throw new NotetakerError('permanent', 'notetaker_error');
  return segments.map(({ speaker, text, startSeconds, endSeconds }) => ({
    speaker: plain(speaker, MAX_NAME_CHARACTERS),
    text: text.toWellFormed(),
    startSeconds: seconds(startSeconds),
    endSeconds: Math.max(seconds(startSeconds), seconds(endSeconds)),
  }));
};

/** The notetakers of a provider, whose word about a recording counts only as far as there can be such a one. */
export const withinBounds = (notetaker: Notetaker, clock: Clock): Notetaker => ({
  ...notetaker,
  async recording(ref) {
    const recording = await notetaker.recording(ref);
    return typeof recording === 'string' ? recording : boundedRecording(recording, clock.now());
  },
  async transcript(ref) {
    const segments = await notetaker.transcript(ref);
    return typeof segments === 'string' ? segments : boundedTranscript(segments);
  },
});
