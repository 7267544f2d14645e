import { readFileSync } from 'node:fs';
import { type BubbleType, UNDATED } from '../../src/domain/bubble.ts';

/** The file of ordered expectations, as it stands. */
export interface CaseBubble {
  readonly id: string;
  readonly type: string;
  readonly title: string | null;
  readonly author_name: string | null;
  readonly summary: string | null;
  readonly created_at: string | null;
  readonly team_id: string | null;
  readonly channel_id: string | null;
  readonly participants: readonly string[];
  readonly archived: boolean;
  readonly draft: boolean;
  readonly template: boolean;
  readonly expires_at: string | null;
}

export interface CaseFilters {
  readonly type?: BubbleType;
  readonly team_id?: string;
  readonly space_id?: string;
  readonly created_after?: string;
  readonly created_before?: string;
}

export interface SearchCase {
  readonly id: string;
  readonly corpus: string;
  readonly caller: string;
  readonly q: string;
  readonly filters?: CaseFilters;
  readonly expected: readonly string[];
  readonly why: string;
}

export interface PagingStep {
  readonly expect?: readonly string[];
  readonly has_more?: boolean;
  readonly insert?: CaseBubble;
  readonly delete?: string;
  readonly removeParticipant?: readonly [string, string];
}

export interface PagingCase {
  readonly id: string;
  readonly corpus: string;
  readonly caller: string;
  readonly q: string;
  readonly limit: number;
  readonly steps: readonly PagingStep[];
  readonly why: string;
}

interface CaseFile {
  readonly now: string;
  readonly corpora: Readonly<Record<string, readonly CaseBubble[]>>;
  readonly cases: readonly SearchCase[];
  readonly paging: readonly PagingCase[];
  readonly status: readonly { readonly q: string; readonly status: number }[];
}

// The file is part of the repository and its shape is stated above.
export const caseFile = JSON.parse(readFileSync(new URL('./search-cases.json', import.meta.url), 'utf8')) as CaseFile;

export const caseNowMs = Date.parse(caseFile.now);

export const corpusOf = (name: string): readonly CaseBubble[] => {
  const corpus = caseFile.corpora[name];
  if (corpus === undefined) throw new Error(`no corpus ${name}`);
  return corpus;
};

/** Ids of the file are short names; compared with the number padded, like the uuids they stand for. */
export const uuidOfCase = (id: string): string => {
  const [, letter = '', digits = ''] = /^([a-z]+)(\d+)$/.exec(id) ?? [];
  return `00000000-0000-4000-8000-${letter.charCodeAt(0).toString(16).padStart(4, '0')}${digits.padStart(8, '0')}`;
};

export const createdMsOf = (bubble: CaseBubble): number => (bubble.created_at === null ? UNDATED : Date.parse(bubble.created_at));

export const isListable = (bubble: CaseBubble): boolean => !bubble.archived && !bubble.draft && !bubble.template;
