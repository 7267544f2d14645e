import { type Segment, singleLine, speakerBlocks, UNKNOWN_SPEAKER } from './transcript.ts';

export type FileFormat = 'vtt' | 'srt' | 'markdown';

interface TitledTranscript {
  readonly title: string | null;
  readonly segments: readonly Segment[];
}

const UNTITLED = 'Transcript';
/** Embeddings, overrides and isolates: one that is not closed turns what follows it around. */
const DIRECTIONS = /[\u202a-\u202e\u2066-\u2069]/g;
/** What every player and editor shows as it was said: on one line, in Unicode, in its own direction. */
const plain = (text: string): string => singleLine(text.replace(DIRECTIONS, '').toWellFormed());

interface Cue {
  readonly startMs: number;
  readonly endMs: number;
  /** Null: nobody knows. */
  readonly speaker: string | null;
  readonly text: string;
}

/** One millisecond is left for the end. */
const LAST_START_MS = Number.MAX_SAFE_INTEGER - 1;
const wholeMs = (seconds: number): number => Math.min(Math.max(0, Math.round(seconds * 1000)), LAST_START_MS);

/** By their beginnings, each ends after it began, and has words: WebVTT asks for it, and readers of SubRip stumble over others. */
const cuesOf = (segments: readonly Segment[]): readonly Cue[] =>
  segments
    .map(({ speaker, text, startTimeSeconds, endTimeSeconds }) => {
      const startMs = wholeMs(startTimeSeconds);
      const endMs = Math.max(wholeMs(endTimeSeconds), startMs + 1);
      return { startMs, endMs, speaker: plain(speaker?.name ?? '') || null, text: plain(text) };
    })
    .filter(({ text }) => text !== '')
    .sort((a, b) => a.startMs - b.startMs);

const digits = (value: number, width = 2): string => String(value).padStart(width, '0');

/** `hh:mm:ss`; hours have as many digits as it takes. */
const clockTime = (ms: number): string => {
  const seconds = Math.floor(ms / 1000);
  return [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60].map((part) => digits(part)).join(':');
};

const range = ({ startMs, endMs }: Cue, separator: ',' | '.'): string =>
  [startMs, endMs].map((ms) => `${clockTime(ms)}${separator}${digits(ms % 1000, 3)}`).join(' --> ');

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };
/** Without `>` there is no arrow either. */
const escapedVtt = (text: string): string => text.replace(/[&<>]/g, (character) => ENTITIES[character] ?? character);

/** A name that ends in hyphens would make an arrow with the end of its mark. */
const voiceOf = (speaker: string): string => `<v ${escapedVtt(speaker).replace(/-$/, '&#45;')}>`;

const asVtt = ({ segments }: TitledTranscript): string => {
  const cues = cuesOf(segments).map((cue) => {
    const voice = cue.speaker === null ? '' : voiceOf(cue.speaker);
    return `${range(cue, '.')}\n${voice}${escapedVtt(cue.text)}\n`;
  });
  return ['WEBVTT\n', ...cues].join('\n');
};

/** SubRip has no escapes. An invisible word joiner keeps players from taking what was said for their marks: `<i>`, `{\an8}`, `-->`. */
const escapedSrt = (text: string): string => text.replace(/[<{](?=\S)|--(?=>)/g, '$&\u2060');

const asSrt = ({ segments }: TitledTranscript): string =>
  cuesOf(segments)
    .map((cue, index) => `${index + 1}\n${range(cue, ',')}\n${escapedSrt(`${cue.speaker ?? UNKNOWN_SPEAKER}: ${cue.text}`)}\n`)
    .join('\n');

/** Whatever begins a mark of CommonMark or of GitHub's extensions within a line. */
const INLINE_MARKS = /[\\`*_[\]<>&#~|$]/g;
/** What begins a list or an underline where a line begins, up to the mark. It is tried at the beginning alone, since a text may be long. */
const BEFORE_LEADING_MARK = /^(?:(?=[-+=:])|\d+(?=[.)]))/;
const escapedMarkdown = (text: string): string => text.replace(INLINE_MARKS, '\\$&').replace(BEFORE_LEADING_MARK, '$&\\');

const asMarkdown = ({ title, segments }: TitledTranscript): string => {
  const blocks = speakerBlocks(segments, plain)
    .filter(({ text }) => text !== '')
    .map(({ name, text, startTimeSeconds }) => {
      const at = clockTime(wholeMs(startTimeSeconds));
      return `**${escapedMarkdown(name)}** (${at})\n\n${escapedMarkdown(text)}\n`;
    });
  return [`# ${escapedMarkdown(plain(title ?? '') || UNTITLED)}\n`, ...blocks].join('\n');
};

const FORMATS = {
  vtt: { extension: 'vtt', write: asVtt },
  srt: { extension: 'srt', write: asSrt },
  markdown: { extension: 'md', write: asMarkdown },
} as const satisfies Record<FileFormat, unknown>;

/** At four bytes each they stay below the limit of 255 bytes of file systems. */
const NAME_MAX_CHARACTERS = 60;
/** What Windows, macOS or Linux take in no name, and what ends or hides one. */
const NOT_IN_NAMES = /[/\\:*?"<>|]/g;
const AT_THE_EDGES = /^[\s.]+|[\s.]+$/g;
/** Windows takes them for devices, whatever follows the full stop. */
const DEVICES = /^(?:con|prn|aux|nul|com\d|lpt\d)(?=\.|$)/i;

/** By its title, as every system takes it. */
const fileName = (title: string | null, extension: string): string => {
  const characters = [...plain((title ?? '').replace(NOT_IN_NAMES, ' '))].slice(0, NAME_MAX_CHARACTERS).join('');
  const name = characters.replace(AT_THE_EDGES, '').replace(DEVICES, '_$&') || UNTITLED;
  return `${name}.${extension}`;
};

/** A transcript to keep, for players (WebVTT, SubRip) and readers (Markdown). */
export const transcriptFile = (transcript: TitledTranscript, format: FileFormat): { readonly name: string; readonly text: string } => {
  const { extension, write } = FORMATS[format];
  return { name: fileName(transcript.title, extension), text: write(transcript) };
};
