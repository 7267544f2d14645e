import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { memoryLog } from '@bubbles/testing/memory-log.ts';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openEmbedded } from './open-embedded.ts';

interface Note {
  readonly _id: string;
  readonly n: number;
  readonly text: string;
}

const NAME = 'data.db';
const FILES = [NAME, `${NAME}-wal`, `${NAME}-commits`] as const;
type File = (typeof FILES)[number];

/** Hundreds of stores are made: in memory where there is such a folder. */
const MEMORY = '/dev/shm';

let root: string;
let copies = 0;
beforeAll(() => {
  root = mkdtempSync(join(existsSync(MEMORY) ? MEMORY : tmpdir(), 'damage-'));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

const folder = () => {
  copies += 1;
  return join(root, String(copies));
};
const copyOf = (from: string): string => {
  const to = folder();
  cpSync(from, to, { recursive: true });
  return to;
};
const open = (at: string) => openEmbedded({ path: join(at, NAME), log: memoryLog() });
const notesOf = (store: ReturnType<typeof open>) => store.database('test').collection<Note>('notes');
const note = (n: number): Note => ({ _id: `n${n}`, n, text: 'what was said '.repeat(Math.abs(n) % 50) });

interface State {
  /** As `kill -9` leaves them: what the processes of this machine see is what the files have. */
  readonly killed: string;
  readonly stopped: string;
  /** The same store when it had less. */
  readonly older: { readonly killed: string; readonly stopped: string };
  readonly notes: readonly Note[];
}

/** One store in all its states: some of it lies in the database, some in the log. */
const made = async (from: number): Promise<State> => {
  const at = folder();
  const early = open(at);
  const add = async (store: typeof early, first: number, count: number) => {
    for (let n = first; n < first + count; n += 1) await notesOf(store).insert(note(n));
  };
  await Promise.all(Array.from({ length: 200 }, (_, n) => notesOf(early).insert(note(from + n - 200))));
  await add(early, from, 40);
  await early.close();
  const stopped = copyOf(at);
  const store = open(at);
  await add(store, from + 40, 20);
  const killed = copyOf(at);
  await add(store, from + 60, 20);
  await notesOf(store).deleteMany({ n: { $gte: from, $lt: from + 10 } });
  await notesOf(store).updateOne({ _id: `n${from + 20}` }, { $set: { text: 'changed' } });
  const notes = await notesOf(store).find({}, { sort: { n: 1 } });
  const state = { killed: copyOf(at), notes, older: { killed, stopped } };
  await store.close();
  return { ...state, stopped: copyOf(at) };
};

/** What became of a store that was opened: all is there and goes on, or one clear line that changed nothing. */
const opened = async (at: string, notes: readonly Note[]): Promise<string> => {
  const before = contentOf(at);
  let store: ReturnType<typeof open>;
  try {
    store = open(at);
  } catch (error) {
    const line = Error.isError(error) ? error.message : String(error);
    if (
      !/^The data file \S+\/data\.db (is damaged: [^\n]+|was written by another version \(format \d+\)|cannot be opened: [^\n]+)\.$/.test(
        line,
      )
    )
      return `an unclear line: ${line}`;
    return JSON.stringify(contentOf(at)) === JSON.stringify(before) ? 'refused' : 'refused, and changed';
  }
  const found = await notesOf(store).find({}, { sort: { n: 1 } });
  await notesOf(store).insert({ _id: 'late', n: 1_000_000, text: '' });
  await store.close();
  if (JSON.stringify(found) !== JSON.stringify(notes)) return `${found.length} of ${notes.length} without a word`;
  const again = open(at);
  const after = await notesOf(again).count({});
  await again.close();
  return after === notes.length + 1 ? 'whole' : 'not whole after one more start';
};

/** Without the index of the log, which is made of it, and an empty log. */
const contentOf = (at: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(at)
      .filter((name) => !name.endsWith('-shm'))
      .map((name) => [name, readFileSync(join(at, name)).toString('base64')] as const)
      .filter(([name, content]) => content !== '' || !name.endsWith('-wal')),
  );

interface Damage {
  readonly name: string;
  readonly harm: (path: string, others: { readonly other: string; readonly older: string }) => void;
}

const flip = (path: string, at: number) => {
  const bytes = readFileSync(path);
  bytes[at] = (bytes[at] ?? 0) ^ (1 << (at % 8));
  writeFileSync(path, bytes);
};

/** All over the file, each byte of the head of a database, and each fourth of the head of anything else. */
const placesOf = (file: File, size: number): readonly number[] => {
  const head = file === NAME ? 1 : 4;
  const all = [
    ...Array.from({ length: 100 / head }, (_, n) => n * head),
    ...Array.from({ length: 24 }, (_, n) => Math.floor((n * size) / 24)),
    size - 1,
  ];
  return [...new Set(all)].filter((place) => place >= 0 && place < size);
};
const lengthsOf = (size: number): readonly number[] =>
  [1, 31, 32, 56, 100, 1_000, 4_096, 4_097, Math.floor(size / 2), size - 4_120, size - 4_096, size - 1].filter(
    (length) => length > 0 && length < size,
  );

const damagesOf = (file: File, size: number): readonly Damage[] => [
  ...lengthsOf(size).map((length) => ({ name: `cut to ${length}`, harm: (path: string) => truncateSync(path, length) })),
  ...placesOf(file, size).map((at) => ({ name: `bit of byte ${at} flipped`, harm: (path: string) => flip(path, at) })),
  { name: 'emptied', harm: (path) => writeFileSync(path, '') },
  { name: 'deleted', harm: (path) => rmSync(path, { force: true }) },
  { name: 'filled with zeros', harm: (path) => writeFileSync(path, Buffer.alloc(size)) },
  { name: 'filled with a page of zeros', harm: (path) => writeFileSync(path, Buffer.alloc(4_096)) },
  { name: 'of another store', harm: (path, { other }) => cpSync(other, path) },
  { name: 'of an older copy', harm: (path, { older }) => cpSync(older, path) },
];

describe.each(['killed', 'stopped'] as const)('a store that was %s', (end) => {
  let state: State;
  let other: State;
  beforeAll(async () => {
    state = await made(0);
    other = await made(1_000);
  });

  it('is whole', async () => {
    expect(await opened(copyOf(state[end]), state.notes)).toBe('whole');
    expect(existsSync(join(state[end], `${NAME}-wal`))).toBe(end === 'killed');
  });

  /** Of the log of a store that was stopped there is nothing; another's may be put there. */
  const sourceOf = (from: { readonly killed: string; readonly stopped: string }, file: File): string =>
    [from[end], from.killed].map((at) => join(at, file)).find((path) => existsSync(path)) ?? '';

  it.each(FILES)('[DLV-05] tells of whatever happens to %s, or has lost nothing', async (file) => {
    const others = { other: sourceOf(other, file), older: sourceOf(state.older, file) };
    const size = existsSync(join(state[end], file)) ? readFileSync(join(state[end], file)).length : 0;
    const results: string[] = [];
    for (const { name, harm } of damagesOf(file, size)) {
      const at = copyOf(state[end]);
      harm(join(at, file), others);
      const result = await opened(at, state.notes);
      results.push(`${name}: ${result}`);
      if (result === 'refused') {
        rmSync(join(at, file), { force: true });
        if (size > 0) cpSync(join(state[end], file), join(at, file));
        expect(`${name}, put back: ${await opened(at, state.notes)}`).toBe(`${name}, put back: whole`);
      }
      rmSync(at, { recursive: true });
    }
    expect(results.filter((result) => !/: (whole|refused)$/.test(result))).toEqual([]);
    expect(results.some((result) => result.endsWith(': refused'))).toBe(true);
  });
});
