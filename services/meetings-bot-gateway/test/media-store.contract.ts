import { describe, expect, it } from '@jest/globals';
import { type MediaFile, type MediaStore, NotetakerError } from '../src/ports.ts';
import { aFile } from './builders.ts';

interface Kept {
  readonly contentType: string;
  readonly text: string;
}

interface MediaStoreUnderTest {
  readonly store: MediaStore;
  /** What lies under the key; null for nothing. */
  read(key: string): Promise<Kept | null>;
  /** What a put that did not end has left. */
  leftovers(): Promise<readonly string[]>;
}

const KEY = 'a1'.repeat(32);
const OTHER = 'b2'.repeat(32);
const never = new AbortController().signal;

/** Gives one chunk, then what `next` does; tells whether it was left. */
const aTransfer = (next: () => Promise<Uint8Array | null>, length: number | null = null) => {
  let isFirst = true;
  let isLeft = false;
  const bytes: AsyncIterableIterator<Uint8Array, undefined> = {
    async next() {
      const value = isFirst ? Buffer.from('first') : await next();
      isFirst = false;
      return value === null ? { done: true, value: undefined } : { done: false, value };
    },
    return() {
      isLeft = true;
      return Promise.resolve({ done: true, value: undefined });
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
  const file: MediaFile = { contentType: 'video/mp4', length, bytes };
  return { file, isLeft: () => isLeft };
};

export const describeMediaStore = (engine: string, make: () => Promise<MediaStoreUnderTest>): void =>
  describe(`MediaStore on ${engine}`, () => {
    it.each([
      ['of a known length', 10],
      ['of an unknown length', null],
    ])('keeps a file %s with its type', async (_what, length) => {
      const { store, read, leftovers } = await make();
      await store.put(KEY, aFile(['some', ' ', 'bytes'], { length }), never);
      expect([await read(KEY), await read(OTHER)]).toEqual([{ contentType: 'video/mp4', text: 'some bytes' }, null]);
      expect(await leftovers()).toEqual([]);
    });

    it('replaces what lies under a key, also by less', async () => {
      const { store, read } = await make();
      await store.put(KEY, aFile(['the longer one']), never);
      await store.put(KEY, { ...aFile(['short']), contentType: 'audio/mpeg' }, never);
      expect(await read(KEY)).toEqual({ contentType: 'audio/mpeg', text: 'short' });
    });

    it('removes a file, and nothing where there is none', async () => {
      const { store, read } = await make();
      await store.put(KEY, aFile(['x']), never);
      await store.remove(KEY);
      await store.remove(KEY);
      expect(await read(KEY)).toBeNull();
    });

    it.each([
      ['of a known length', 12],
      ['of an unknown length', null],
    ])('keeps nothing of a file %s whose transfer fails, and passes its fault on', async (_what, length) => {
      const { store, read, leftovers } = await make();
      await store.put(KEY, aFile(['before']), never);
      const fault = new NotetakerError('transient', 'media_broken_off');
      const { file, isLeft } = aTransfer(() => Promise.reject(fault), length);
      await expect(store.put(KEY, file, never)).rejects.toMatchObject({ name: 'NotetakerError', reason: 'media_broken_off' });
      expect(await read(KEY)).toMatchObject({ text: 'before' });
      expect([isLeft(), await leftovers()]).toEqual([true, []]);
    });

    it.each([
      ['too short', 6],
      ['too long', 4],
    ])('keeps nothing of a file that is %s', async (_what, length) => {
      const { store, read, leftovers } = await make();
      await expect(store.put(KEY, aFile(['12345'], { length }), never)).rejects.toMatchObject({ kind: 'unavailable' });
      expect([await read(KEY), await leftovers()]).toEqual([null, []]);
    });

    it.each([
      ['of a known length', 12],
      ['of an unknown length', null],
    ])('leaves a transfer %s that has stalled when it is told to', async (_what, length) => {
      const { store, read, leftovers } = await make();
      const stalled = Promise.withResolvers<void>();
      const stop = new AbortController();
      const { promise, reject } = Promise.withResolvers<null>();
      const { file, isLeft } = aTransfer(() => {
        stalled.resolve();
        return promise;
      }, length);
      const leave = file.bytes[Symbol.asyncIterator]().return;
      Object.assign(file.bytes, {
        return: () => {
          reject(new Error('left'));
          return leave?.call(file.bytes);
        },
      });
      const put = store.put(KEY, file, stop.signal);
      const ended = put.then(
        () => 'kept',
        () => 'left',
      );
      await stalled.promise;
      stop.abort();
      expect([await ended, isLeft(), await read(KEY), await leftovers()]).toEqual(['left', true, null, []]);
    });

    it('begins nothing when it is told to stop before', async () => {
      const { store, read } = await make();
      await expect(store.put(KEY, aFile(['x']), AbortSignal.abort())).rejects.toThrow();
      expect(await read(KEY)).toBeNull();
    });

    it('keeps files apart, and one of two that come at once', async () => {
      const { store, read } = await make();
      await Promise.allSettled([store.put(KEY, aFile(['one']), never), store.put(KEY, aFile(['two']), never)]);
      await store.put(OTHER, aFile(['three']), never);
      expect(['one', 'two']).toContain((await read(KEY))?.text);
      expect(await read(OTHER)).toMatchObject({ text: 'three' });
    });
  });
