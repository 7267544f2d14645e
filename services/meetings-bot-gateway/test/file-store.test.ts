import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemIds } from '@bubbles/kernel/ids.ts';
import { afterEach, describe, expect, it } from '@jest/globals';
import { createFileStore } from '../src/adapters/media/file-store.ts';
import type { StoredMedia } from '../src/ports.ts';
import { aFile } from './builders.ts';
import { describeMediaStore } from './media-store.contract.ts';

const KEY = 'a1'.repeat(32);
const never = new AbortController().signal;
const folders: string[] = [];
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true });
});

const make = async () => {
  const folder = await mkdtemp(join(tmpdir(), 'media-'));
  folders.push(folder);
  return { folder, store: createFileStore({ folder, ids: systemIds() }) };
};

const textOf = async ({ bytes, length }: StoredMedia, start = 0, end = length): Promise<string> =>
  Buffer.concat(await Array.fromAsync(bytes(start, end))).toString();

describeMediaStore('the file system', async () => {
  const { folder, store } = await make();
  return {
    store,
    async read(key) {
      const file = await store.find(key);
      return file && { contentType: file.contentType, text: await textOf(file) };
    },
    leftovers: () => readdir(join(folder, 'unfinished')),
  };
});

describe('a folder of files', () => {
  it('gives any part of one', async () => {
    const { store } = await make();
    await store.put(KEY, aFile(['0123', '456789']), never);
    const file = await store.find(KEY);
    if (file === null) throw new Error('there is no file');
    expect(file.length).toBe(10);
    expect([await textOf(file, 0, 1), await textOf(file, 3, 7), await textOf(file, 9), await textOf(file, 5, 5)]).toEqual([
      '0',
      '3456',
      '9',
      '',
    ]);
  });

  it('never gives parts of two files as one', async () => {
    const { store } = await make();
    await store.put(KEY, aFile(['before']), never);
    const file = await store.find(KEY);
    await store.put(KEY, aFile(['behind']), never);
    const again = await store.find(KEY);
    expect(again?.tag).not.toBe(file?.tag);
    await expect(file && textOf(file)).rejects.toMatchObject({ kind: 'unavailable' });
  });

  it.each(['', '.', '..', '../secret', 'unfinished', `${KEY}.part`, KEY.toUpperCase(), `${KEY}\0`, KEY.slice(1), `./${KEY}`])(
    'opens nothing by %j',
    async (key) => {
      const { folder, store } = await make();
      await store.put(KEY, aFile(['x']), never);
      await writeFile(join(folder, 'secret'), 'x'.repeat(300));
      expect(await store.find(key)).toBeNull();
      await expect(store.put(key, aFile(['x']), never)).rejects.toThrow();
      await expect(store.remove(key)).rejects.toThrow();
      expect((await readdir(folder)).toSorted()).toEqual([KEY, 'secret', 'unfinished']);
    },
  );

  it('is freed of what a process left that died, by who writes the same file next', async () => {
    const { folder, store } = await make();
    await store.put(KEY, aFile(['x']), never);
    await writeFile(join(folder, 'unfinished', `${KEY}.killed`), 'half');
    expect(await store.find(KEY)).toMatchObject({ length: 1 });
    await store.put(KEY, aFile(['whole']), never);
    expect(await readdir(join(folder, 'unfinished'))).toEqual([]);
  });

  it('is freed of it by a removal too', async () => {
    const { folder, store } = await make();
    await store.remove(KEY);
    await store.put(KEY, aFile(['x']), never);
    await writeFile(join(folder, 'unfinished', `${KEY}.killed`), 'half');
    await store.remove(KEY);
    expect([await readdir(folder), await readdir(join(folder, 'unfinished'))]).toEqual([['unfinished'], []]);
  });

  it('that cannot be written is unavailable', async () => {
    const { folder } = await make();
    await writeFile(join(folder, 'taken'), '');
    const store = createFileStore({ folder: join(folder, 'taken'), ids: systemIds() });
    await expect(store.put(KEY, aFile(['x']), never)).rejects.toMatchObject({ kind: 'unavailable' });
  });
});
