import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { crc32 } from 'node:zlib';
import { memoryLog } from '@bubbles/testing/memory-log.ts';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { serialize } from 'bson';
import { openEmbedded } from './open-embedded.ts';

interface Note {
  readonly _id: string;
  readonly n: number;
}

const WRITER = fileURLToPath(new URL('../../testing/src/acknowledging-writer.ts', import.meta.url));

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'store-'));
  path = join(folder, 'deep', 'data.db');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const open = (at = path) => openEmbedded({ path: at, log: memoryLog() });
const notesOf = (store: ReturnType<typeof open>) => store.database('test').collection<Note>('notes');

/** One opened, filled and closed file. */
const filled = async (count: number) => {
  const store = open();
  await Promise.all(Array.from({ length: count }, (_, n) => notesOf(store).insert({ _id: `n${n}`, n })));
  await store.close();
};

/** As the versions wrote it that knew neither totals nor a counter. */
const firstFormat = (at: string, numbers: readonly number[]) => {
  const database = new DatabaseSync(at);
  database.exec(`PRAGMA journal_mode = WAL;
    CREATE TABLE IF NOT EXISTS documents (number INTEGER PRIMARY KEY, space TEXT NOT NULL, body BLOB NOT NULL, checksum INTEGER NOT NULL);
    PRAGMA user_version = 1;`);
  const put = database.prepare('INSERT INTO documents VALUES (?, ?, ?, ?)');
  for (const n of numbers) {
    const body = serialize({ _id: `n${n}`, n });
    put.run(n, 'test/notes', body, crc32(body));
  }
  database.close();
};

const messageOf = (work: () => unknown): string => {
  try {
    work();
  } catch (error) {
    return Error.isError(error) ? error.message : String(error);
  }
  return 'nothing was thrown';
};

describe('the data file', () => {
  it('keeps the documents of several databases, in their order, over a restart', async () => {
    await filled(10);
    const store = open();
    await store.database('other').collection<Note>('notes').insert({ _id: 'n0', n: 99 });
    await notesOf(store).deleteOne({ _id: 'n3' });
    await notesOf(store).updateOne({ _id: 'n4' }, { $set: { n: 44 } });
    await store.close();

    const again = open();
    expect((await notesOf(again).find({})).map((note) => note.n)).toEqual([0, 1, 2, 44, 5, 6, 7, 8, 9]);
    expect(await again.database('other').collection<Note>('notes').find({})).toEqual([{ _id: 'n0', n: 99 }]);
    expect(await notesOf(again).insert({ _id: 'n10', n: 10 })).toBe(true);
    await again.close();
  });

  it('clear drops everything, also on the file, and what was declared goes on', async () => {
    await filled(5);
    const store = open();
    await notesOf(store).ensureIndexes([{ name: 'n', keys: { n: 1 }, unique: true }]);
    const pending = notesOf(store).insert({ _id: 'late', n: 77 });
    store.clear();
    await pending;
    expect(await notesOf(store).find({})).toEqual([]);
    expect(await notesOf(store).insert({ _id: 'x', n: 1 })).toBe(true);
    expect(await notesOf(store).insert({ _id: 'y', n: 1 })).toBe(false);
    await store.close();
    const again = open();
    expect(await notesOf(again).find({})).toEqual([{ _id: 'x', n: 1 }]);
    await again.close();
  });

  it('is refused at once to a second opener, and free again after close', async () => {
    const store = open();
    expect(messageOf(() => open())).toBe(`The data file ${path} is in use by another process.`);
    await store.close();
    const again = open();
    await again.close();
  });

  it('a file that is no database is damaged, in one clear line', async () => {
    await filled(1);
    writeFileSync(path, 'this is not a database, whatever its name says '.repeat(200));
    expect(messageOf(() => open())).toBe(`The data file ${path} is damaged: its first page is not what was written.`);
  });

  it('a page that was overwritten is damaged', async () => {
    await filled(2_000);
    const bytes = readFileSync(path);
    bytes.fill(0xa5, 4_096 * 3, 4_096 * 5);
    writeFileSync(path, bytes);
    expect(messageOf(() => open())).toMatch(/^The data file .* is damaged.*\.$/);
  });

  it('a document of which one bit was flipped is damaged', async () => {
    await filled(3);
    const database = new DatabaseSync(path);
    const row = database.prepare('SELECT body FROM documents WHERE number = 2').get();
    const body = Buffer.from(row?.['body'] instanceof Uint8Array ? row['body'] : Buffer.from(Object.values(row?.['body'] ?? {})));
    body.writeUInt8(body.readUInt8(body.length - 3) ^ 1, body.length - 3);
    database.prepare('UPDATE documents SET body = ? WHERE number = 2').run(body);
    database.close();
    expect(messageOf(() => open())).toBe(`The data file ${path} is damaged: document 2 is not what was written.`);
  });

  it('a file of another format is refused', async () => {
    await filled(1);
    const database = new DatabaseSync(path);
    database.exec('PRAGMA user_version = 7');
    database.close();
    expect(messageOf(() => open())).toBe(`The data file ${path} was written by another version (format 7).`);
  });

  it('says how many commits are gone when its log is, and goes on without them once nothing counts them any more', async () => {
    await filled(3);
    const store = open();
    await notesOf(store).insert({ _id: 'a', n: 1 });
    const copy = join(folder, 'copy.db');
    for (const end of ['', '-commits']) cpSync(path + end, copy + end);
    await store.close();
    const line = `The data file ${copy} is damaged: it or ${copy}-wal lacks the last 1 of 2 commits. To go on with what is left, delete ${copy}-commits.`;
    expect(messageOf(() => open(copy))).toBe(line);
    rmSync(`${copy}-commits`);
    const log = memoryLog();
    const again = openEmbedded({ path: copy, log });
    expect(await notesOf(again).count({})).toBe(3);
    expect(log.lines).toContainEqual(expect.objectContaining({ level: 'warn', message: expect.stringContaining('no counter of commits') }));
    await again.close();
    await open(copy).close();
  });

  it('is told from another store’s', async () => {
    await filled(3);
    const other = join(folder, 'other.db');
    await open(other).close();
    cpSync(path, other);
    expect(messageOf(() => open(other))).toBe(
      `The data file ${other} is damaged: it is not of the store whose commits ${other}-commits counts. To go on with what is left, delete ${other}-commits.`,
    );
  });

  it('is told to be missing', async () => {
    await filled(3);
    rmSync(path);
    expect(messageOf(() => open())).toBe(`The data file ${path} is damaged: it is missing or empty, and ${path}-commits counts 1 commits.`);
  });

  it('of the first format is taken over with all that it holds; one that lies there again afterwards is behind', async () => {
    const old = join(folder, 'old.db');
    firstFormat(old, [1, 2, 3]);
    cpSync(old, `${old}.kept`);
    const store = open(old);
    expect((await notesOf(store).find({})).map(({ n }) => n)).toEqual([1, 2, 3]);
    expect(await notesOf(store).deleteOne({ n: 2 })).toBe(1);
    await store.close();
    const again = open(old);
    expect((await notesOf(again).find({})).map(({ n }) => n)).toEqual([1, 3]);
    await again.close();
    cpSync(`${old}.kept`, old);
    expect(messageOf(() => open(old))).toContain('lacks the last 2 of 2 commits');
  });

  it('of the first format is looked through like any other', () => {
    const old = join(folder, 'old.db');
    firstFormat(old, [1, 2, 3]);
    const database = new DatabaseSync(old);
    database.exec('UPDATE documents SET checksum = checksum + 1 WHERE number = 2');
    database.close();
    expect(messageOf(() => open(old))).toBe(`The data file ${old} is damaged: document 2 is not what was written.`);
  });

  it('a folder that cannot be used is told in one line', () => {
    writeFileSync(join(folder, 'deep'), 'a file where a folder should be');
    const message = messageOf(() => open());
    expect(message).toMatch(/^The data file .* cannot be opened: .*\.$/);
    expect(message).not.toContain('\n');
  });

  it('a folder that can never be made is told too, and does not hang', () => {
    expect(messageOf(() => openEmbedded({ path: '/proc/nowhere/at/all/data.sqlite', log: memoryLog() }))).toMatch(
      /cannot be opened: .*\.$/,
    );
  });

  it.each(['', '-wal', '-shm', '-commits'])('a pipe as data.db%s is told and not waited for, and stays', (part) => {
    const at = join(folder, 'data.db');
    execFileSync('mkfifo', [at + part]);
    expect(messageOf(() => open(at))).toBe(`The data file ${at} cannot be opened: ${at + part} is not a file.`);
    expect(readdirSync(folder)).toEqual([`data.db${part}`]);
  });

  it('a closed store answers nothing', async () => {
    const store = open();
    const notes = notesOf(store);
    await store.close();
    await expect(notes.findOne({ _id: 'a' })).rejects.toMatchObject({ kind: 'unavailable' });
    await expect(store.database('test').ping()).rejects.toMatchObject({ kind: 'unavailable' });
  });

  it('a document beyond 16 MiB is refused and nothing else suffers', async () => {
    const store = open();
    const notes = store.database('test').collection<Note & { text: string }>('notes');
    const large = notes.insert({ _id: 'large', n: 0, text: 'x'.repeat(17 * 1024 * 1024) });
    const small = notes.insert({ _id: 'small', n: 0, text: '' });
    await expect(large).rejects.toMatchObject({ kind: 'internal' });
    expect(await small).toBe(true);
    expect(await notes.count({})).toBe(1);
    await store.close();
  });
});

/** Runs the writer until it has acknowledged `count` writes, kills it, and answers all that it acknowledged. */
const killAfter = async (count: number, from: number): Promise<number[]> => {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', WRITER, path, String(from)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const acknowledged: number[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    acknowledged.push(Number(line));
    if (acknowledged.length === count) child.kill('SIGKILL');
  }
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  return acknowledged;
};

describe('a process that is killed while it writes', () => {
  it('[DLV-05] loses nothing that was answered, and its hold on the file ends with it', async () => {
    const answered: number[] = [];
    for (const round of [0, 1, 2]) {
      for (const one of await killAfter(150 + round * 37, round * 100_000)) answered.push(one);
      const store = open();
      const kept = new Set((await notesOf(store).find({ _id: { $ne: 'last' } })).map((note) => note.n));
      expect(answered.filter((n) => !kept.has(n))).toEqual([]);
      expect((await notesOf(store).findOne({ _id: 'last' }))?.n).toBeGreaterThanOrEqual(answered.reduce((most, n) => Math.max(most, n)));
      await store.close();
    }
  });
});
