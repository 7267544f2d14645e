import type { Directory } from './person.ts';

export interface Segment {
  readonly speaker: { readonly id: string | null; readonly name: string | null } | null;
  readonly text: string;
  readonly startTimeSeconds: number;
  readonly endTimeSeconds: number;
}
export interface Transcript {
  readonly bubbleId: string;
  readonly revision: number;
  readonly segments: readonly Segment[];
}

export const UNKNOWN_SPEAKER = 'Unknown speaker';

export const speakerIds = (segments: readonly Segment[]): string[] => [...new Set(segments.flatMap(({ speaker }) => speaker?.id ?? []))];

/** Speakers under the names that their accounts have now. */
export const withCurrentNames = (segments: readonly Segment[], directory: Directory): Segment[] =>
  segments.map((segment) => {
    const known = segment.speaker?.id ? directory.get(segment.speaker.id) : undefined;
    return segment.speaker && known ? { ...segment, speaker: { id: segment.speaker.id, name: known.name } } : segment;
  });

const BREAKS_AND_BLANKS = /[\s\p{Cc}]+/gu;
/** A break within a text would look like the end of a block, and what follows like another speaker. */
export const singleLine = (text: string): string => text.replace(BREAKS_AND_BLANKS, ' ').trim();

interface SpeakerBlock extends Pick<Segment, 'startTimeSeconds'> {
  readonly name: string;
  readonly text: string;
}

/** Consecutive segments of one speaker: of the same id, or without ids of the same name. */
export const speakerBlocks = (segments: readonly Segment[], clean: (text: string) => string): readonly SpeakerBlock[] => {
  const blocks: (Omit<SpeakerBlock, 'text'> & { readonly key: string; readonly texts: string[] })[] = [];
  for (const { speaker, text, startTimeSeconds } of segments) {
    const [name, cleaned] = [clean(speaker?.name ?? ''), clean(text)];
    const key = speaker?.id ? `id:${speaker.id}` : `name:${name}`;
    const last = blocks.at(-1);
    if (last?.key !== key) blocks.push({ key, name: name || UNKNOWN_SPEAKER, startTimeSeconds, texts: [cleaned] });
    else if (cleaned !== '') last.texts.push(cleaned);
  }
  return blocks.map(({ texts, key: _, ...block }) => ({ ...block, text: texts.join(' ').trimStart() }));
};

/** Blocks of one speaker with a blank line between them. */
export const asText = (segments: readonly Segment[]): string =>
  speakerBlocks(segments, singleLine)
    .map(({ name, text }) => `${name}: ${text}`)
    .join('\n\n');
