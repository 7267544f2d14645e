import type { Doc } from '@bubbles/store/collection.ts';
import { describe, expect, it } from '@jest/globals';
import type { DataFile } from './data-file.ts';
import { createEmbeddedCollection } from './embedded-collection.ts';
import { createFileJournal } from './journal.ts';
import { createTable } from './table.ts';

/** A disk that may be full. */
const disk = () => {
  const written: (readonly number[])[] = [];
  let full = false;
  const refuseWhenFull = () => {
    if (full) throw new Error('database or disk is full');
  };
  const file: DataFile = {
    write(changes: Parameters<DataFile['write']>[0]) {
      refuseWhenFull();
      written.push([...changes.keys()]);
    },
    clear: () => refuseWhenFull(),
    close: () => undefined,
  };
  return {
    file,
    written,
    fill(state: boolean) {
      full = state;
    },
  };
};

const counter = () => {
  let last = 0;
  return () => {
    last += 1;
    return last;
  };
};

const row = (number: number) => ({ number, space: 'd/c', body: new Uint8Array() });

describe('createFileJournal', () => {
  it('makes one transaction of all that is written in one turn', async () => {
    const { file, written } = disk();
    const journal = createFileJournal(file);
    const flushes = [1, 2, 3].map((number) => {
      journal.put(row(number));
      return journal.flushed();
    });
    await Promise.all(flushes);
    journal.put(row(4));
    await journal.flushed();
    expect(written).toEqual([[1, 2, 3], [4]]);
  });

  it('answers nothing as kept while the disk is full, and keeps all of it when there is room again', async () => {
    const { file, written, fill } = disk();
    const journal = createFileJournal(file);
    fill(true);
    journal.put(row(1));
    await expect(journal.flushed()).rejects.toMatchObject({ kind: 'unavailable' });
    journal.put(row(2));
    await expect(journal.flushed()).rejects.toMatchObject({ kind: 'unavailable' });
    fill(false);
    await journal.flushed();
    expect(written).toEqual([[1, 2]]);
  });

  it('says once that the disk is full, and once that it can be written again', async () => {
    const { file, fill } = disk();
    const told: unknown[] = [];
    const journal = createFileJournal(file, (fault) => told.push(fault));
    const write = async (number: number) => {
      journal.put(row(number));
      await Promise.allSettled([journal.flushed()]);
    };
    await write(1);
    fill(true);
    await write(2);
    await write(3);
    fill(false);
    await write(4);
    await write(5);
    expect(told).toEqual([expect.objectContaining({ message: 'database or disk is full' }), null]);
  });

  it('keeps what waits when the file cannot be cleared, and nothing of it when it could', async () => {
    const { file, written, fill } = disk();
    const journal = createFileJournal(file);
    fill(true);
    journal.put(row(1));
    expect(() => journal.clear()).toThrow('full');
    fill(false);
    await journal.flushed();
    expect(written).toEqual([[1]]);
    journal.put(row(2));
    journal.clear();
    await journal.flushed();
    expect(written).toEqual([[1]]);
  });

  it('lets nothing more be done while the disk is full', async () => {
    const { file, written, fill } = disk();
    const parts = {
      name: 'c',
      space: 'd/c',
      table: createTable(counter(), []),
      journal: createFileJournal(file),
      onScan: () => undefined,
    };
    const docs = createEmbeddedCollection<Doc>({ ...parts, isOpen: () => true });
    const insert = (_id: string) => docs.insert({ _id });
    fill(true);
    const refused = [
      await Promise.allSettled([insert('a'), insert('b')]),
      await Promise.allSettled([insert('c'), docs.deleteOne({ _id: 'a' })]),
    ];
    expect(refused.flat().map(({ status }) => status)).toEqual(Array(4).fill('rejected'));
    fill(false);
    expect(await docs.find({})).toEqual([{ _id: 'a' }, { _id: 'b' }]);
    expect([await insert('c'), await insert('a')]).toEqual([true, false]);
    expect(written).toEqual([[1, 2], [3]]);
  });

  it('waits for nothing when nothing was written', async () => {
    const { file, written } = disk();
    await createFileJournal(file).flushed();
    expect(written).toEqual([]);
  });
});
