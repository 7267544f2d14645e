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

const UNKNOWN_SPEAKER = 'Unknown speaker';

export const speakerIds = (segments: readonly Segment[]): string[] => [...new Set(segments.flatMap(({ speaker }) => speaker?.id ?? []))];

/** Speakers under the names that their accounts have now. */
export const withCurrentNames = (segments: readonly Segment[], directory: Directory): Segment[] =>
  segments.map((segment) => {
    const known = segment.speaker?.id ? directory.get(segment.speaker.id) : undefined;
    return segment.speaker && known ? { ...segment, speaker: { id: segment.speaker.id, name: known.name } } : segment;
  });

const BREAKS_AND_BLANKS = /[\s\p{Cc}]+/gu;
/** On one line: a break within it would look like the end of a block, and what follows like another speaker. */
const folded = (text: string): string => text.replace(BREAKS_AND_BLANKS, ' ').trim();

const nameOf = ({ speaker }: Segment): string => folded(speaker?.name ?? '');

/** The same id, or without ids the same name. */
const speakerKey = (segment: Segment): string => (segment.speaker?.id ? `id:${segment.speaker.id}` : `name:${nameOf(segment)}`);

/** Blocks of one speaker with a blank line between them. */
export function asText(segments: readonly Segment[]): string {
  const blocks: { readonly key: string; readonly name: string; readonly texts: string[] }[] = [];
  for (const segment of segments) {
    const [key, text] = [speakerKey(segment), folded(segment.text)];
    const last = blocks.at(-1);
    if (last?.key !== key) blocks.push({ key, name: nameOf(segment) || UNKNOWN_SPEAKER, texts: [text] });
    else if (text !== '') last.texts.push(text);
  }
  return blocks.map(({ name, texts }) => `${name}: ${texts.join(' ').trimStart()}`).join('\n\n');
}
