import type { TestBubbles } from './bubbles-query.ts';
import { account, bubbleId, changed, created, noted, removed } from './builders.ts';
import { seeded } from './seeded.ts';

const WORDS = ['sprint', 'sprnt', 'sprinting', 'demo', 'retro', 'plan', 'alpha', 'beta'];
const FLAGS = ['archived', 'draft', 'template'] as const;
export const USERS: readonly string[] = ['ann', 'bob'];
const AUTHORS = ['dana', 'eli', 'fay'];
/** How many bubbles both users have: a whole list fits a page. */
const MOST_BUBBLES = 60;

interface Known {
  readonly id: string;
  readonly revision: number;
  readonly title: string;
  readonly authorId: string;
  readonly readers: readonly string[];
  readonly flag: (typeof FLAGS)[number] | null;
}

/** Bubbles that come, go and change as somebody throws dice, and what has to follow from it. */
export const randomWorld = ({ tell }: Pick<TestBubbles, 'tell'>, seed: number) => {
  const random = seeded(seed);
  const pick = <T>(all: readonly T[]): T => {
    const one = all[random(all.length)];
    if (one === undefined) throw new RangeError('nothing to pick from');
    return one;
  };
  const words = (count: number) => Array.from({ length: count }, () => pick(WORDS)).join(' ');
  const some = (all: readonly string[]) => all.filter(() => random(3) > 0);
  const bubbles = new Map<string, Known>();
  /** In order: who was touched when. */
  const touched: string[] = [];
  let made = 0;
  let renamed = 0;

  const factsOf = ({ id, revision, title, authorId, readers, flag }: Known) => ({
    bubble_id: id,
    revision,
    title,
    author: { user_id: authorId, name: authorId, email: null, is_external: false },
    participants: readers.map((userId) => ({ user_id: userId, name: null, email: null, is_external: false })),
    created_at: new Date(Date.UTC(2026, 0, 1 + (made % 5))).toISOString(),
    ...(flag === null ? {} : { [flag]: true }),
  });
  const change = async (id: string, fields: Partial<Known>) => {
    const known = bubbles.get(id);
    if (known === undefined) return;
    const next = { ...known, ...fields, revision: known.revision + 1 };
    bubbles.set(id, next);
    const { created_at: _, ...facts } = factsOf(next);
    await tell(changed({ ...facts, created_at: createdAt.get(id) ?? null }));
  };
  const createdAt = new Map<string, string>();
  const touch = (id: string): void => {
    touched.push(id);
  };
  const anyId = () => pick([...bubbles.keys()]);

  const insert = async () => {
    made += 1;
    const known: Known = {
      id: bubbleId(made),
      revision: 1,
      title: words(1 + random(3)),
      authorId: pick(AUTHORS),
      readers: some(USERS),
      flag: null,
    };
    const facts = factsOf(known);
    bubbles.set(known.id, known);
    createdAt.set(known.id, facts.created_at);
    touch(known.id);
    await tell(created(facts), noted({ bubble_id: known.id, summary: words(random(4)) }));
  };
  const remove = async () => {
    const id = anyId();
    bubbles.delete(id);
    touch(id);
    await tell(removed({ bubble_id: id }));
  };
  const edit = async () => {
    const id = anyId();
    touch(id);
    await change(id, { title: words(2) });
  };
  const regroup = async () => {
    const id = anyId();
    touch(id);
    await change(id, { readers: some(USERS) });
  };
  const hide = async () => {
    const id = anyId();
    touch(id);
    await change(id, { flag: bubbles.get(id)?.flag === null ? pick(FLAGS) : null });
  };
  const rename = async () => {
    const authorId = pick(AUTHORS);
    for (const { id, authorId: author } of bubbles.values()) if (author === authorId) touch(id);
    renamed += 1;
    await tell(account({ user_id: authorId, name: words(1), revision: renamed }));
  };
  /** Told again without a change of its words. */
  const repeat = () => change(anyId(), {});

  return {
    random,
    words,
    insert,
    pickUser: () => pick(USERS),
    disturb: () => {
      if (bubbles.size < MOST_BUBBLES / 2) return insert();
      if (bubbles.size > MOST_BUBBLES) return remove();
      return pick([insert, insert, remove, remove, edit, regroup, hide, rename, repeat, repeat])();
    },
    mayRead: (id: string, userId: string): boolean => {
      const known = bubbles.get(id);
      return known !== undefined && known.flag === null && known.readers.includes(userId);
    },
    /** A mark in time: `touchedSince` tells which bubbles changed after it. */
    now: () => touched.length,
    touchedSince: (mark: number): ReadonlySet<string> => new Set(touched.slice(mark)),
  };
};
export type RandomWorld = ReturnType<typeof randomWorld>;
