import { fakeClock } from '@bubbles/testing/fake-clock.ts';
import { type Answer, startBubbles, type TestBubbles, type TestBubblesOptions } from './bubbles-query.ts';
import { account, changed, created, noted, type RecordedPerson, removed, type Told } from './builders.ts';
import { type CaseBubble, type CaseFilters, caseNowMs, corpusOf, uuidOfCase } from './search/cases.ts';

/** How a case's author is known: it must make no difference to the search. */
export const AUTHORS = ['with an account', 'whose account is not known yet', 'without an account'] as const;
export type AuthorKind = (typeof AUTHORS)[number];

const authorOf = ({ author_name: name }: CaseBubble, kind: AuthorKind): RecordedPerson | null => {
  if (name === null) return null;
  const userId = `author ${name}`;
  if (kind === 'without an account') return { user_id: null, name, email: null, is_external: true };
  return { user_id: userId, name: kind === 'with an account' ? 'Somebody Renamed' : name, email: null, is_external: false };
};

const participant = (userId: string): RecordedPerson => ({ user_id: userId, name: userId, email: null, is_external: false });

const fieldsOf = (bubble: CaseBubble, kind: AuthorKind) => ({
  bubble_id: uuidOfCase(bubble.id),
  // The cases say what is valid.
  type: bubble.type as 'meeting_recording',
  title: bubble.title,
  author: authorOf(bubble, kind),
  created_at: bubble.created_at,
  team_id: bubble.team_id,
  channel_id: bubble.channel_id,
  participants: bubble.participants.map(participant),
  archived: bubble.archived,
  draft: bubble.draft,
  template: bubble.template,
  expires_at: bubble.expires_at,
});

export const toldOf = (bubble: CaseBubble, kind: AuthorKind = 'with an account'): readonly Told[] => {
  const author = authorOf(bubble, kind);
  return [
    created(fieldsOf(bubble, kind)),
    ...(bubble.summary === null ? [] : [noted({ bubble_id: uuidOfCase(bubble.id), summary: bubble.summary })]),
    ...(kind === 'with an account' && author?.user_id ? [account({ user_id: author.user_id, name: bubble.author_name, email: null })] : []),
  ];
};

export const toldWithout = (bubble: CaseBubble, userId: string): Told =>
  changed({
    ...fieldsOf(bubble, 'with an account'),
    participants: bubble.participants.filter((one) => one !== userId).map(participant),
  });

export const toldRemoved = (bubble: CaseBubble): Told => removed({ bubble_id: uuidOfCase(bubble.id) });

/** The service at the cases' own time, with one corpus told. */
export const startWith = async (corpus: string, kind?: AuthorKind, options: TestBubblesOptions = {}): Promise<TestBubbles> => {
  const bubbles = await startBubbles({ clock: fakeClock(new Date(caseNowMs)), ...options });
  for (const bubble of corpusOf(corpus)) await bubbles.tell(...toldOf(bubble, kind));
  return bubbles;
};

export const searchPath = (q: string, more: Readonly<Record<string, string | number | undefined>> = {}): string => {
  const query = new URLSearchParams({ q });
  for (const [name, value] of Object.entries(more)) if (value !== undefined) query.set(name, String(value));
  return `/v1/bubbles/search?${query}`;
};

export const searchAs = (
  bubbles: TestBubbles,
  userId: string,
  { q, ...more }: CaseFilters & { readonly q: string; readonly limit?: number; readonly cursor?: string | undefined },
): Promise<Answer> => bubbles.read(userId, searchPath(q, more));

export const idsIn = ({ body }: Answer): string[] => body.data.map((row: { id: string }) => row.id);
