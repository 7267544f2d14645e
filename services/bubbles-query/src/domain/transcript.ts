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

/** The same id, or without ids the same name. */
const speakerKey = ({ speaker }: Segment): string => (speaker?.id ? `id:${speaker.id}` : `name:${speaker?.name ?? ''}`);

/** Blocks of one speaker with a blank line between them. */
export function asText(segments: readonly Segment[]): string {
  const blocks: { readonly key: string; readonly name: string; readonly texts: string[] }[] = [];
  for (const segment of segments) {
    const key = speakerKey(segment);
    const last = blocks.at(-1);
    if (last?.key === key) last.texts.push(segment.text);
    else blocks.push({ key, name: segment.speaker?.name || UNKNOWN_SPEAKER, texts: [segment.text] });
  }
  return blocks.map(({ name, texts }) => `${name}: ${texts.join(' ')}`).join('\n\n');
}
