import { describe, expect, it } from '@jest/globals';
import { coalesced } from './coalesce.ts';

/** A store whose reads end when told. */
const slowReads = () => {
  const reads: { keys: readonly string[]; end(): void; fail(): void }[] = [];
  return {
    reads,
    read: (keys: readonly string[]) => {
      const { promise, resolve, reject } = Promise.withResolvers<ReadonlyMap<string, string>>();
      reads.push({ keys, end: () => resolve(new Map(keys.map((key) => [key, `value of ${key}`]))), fail: () => reject(new Error('away')) });
      return promise;
    },
  };
};

describe('coalesced reads', () => {
  it('one goes at once; those that come meanwhile go together as the next', async () => {
    const { reads, read } = slowReads();
    const find = coalesced(read, 1);
    const first = find(['a']);
    const others = [find(['b']), find(['c', 'b'])];
    expect(reads.map(({ keys }) => keys)).toEqual([['a']]);
    reads[0]?.end();
    await first;
    expect(reads.map(({ keys }) => keys)).toEqual([['a'], ['b', 'c']]);
    reads[1]?.end();
    expect((await Promise.all(others)).map((found) => found.get('b'))).toEqual(['value of b', 'value of b']);
  });

  it('[AUTH-04] a read never joins one that has begun, even for the same key', async () => {
    const { reads, read } = slowReads();
    const find = coalesced(read, 1);
    const before = find(['a']);
    const after = find(['a']);
    reads[0]?.end();
    await before;
    expect(reads).toHaveLength(2);
    reads[1]?.end();
    await after;
  });

  it('a failure ends those who asked together and nobody else', async () => {
    const { reads, read } = slowReads();
    const find = coalesced(read, 1);
    const first = find(['a']);
    const second = find(['b']);
    reads[0]?.fail();
    await expect(first).rejects.toThrow('away');
    reads[1]?.end();
    expect((await second).get('b')).toBe('value of b');
  });
});
