import { describe, expect, it } from '@jest/globals';
import { grouped } from './grouped.ts';

const slowWrites = () => {
  const writes: { items: readonly string[]; end(): void; fail(): void }[] = [];
  const write = (items: readonly string[]) => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    writes.push({ items, end: resolve, fail: () => reject(new Error('away')) });
    return promise;
  };
  return { writes, write };
};

describe('grouped writes', () => {
  it('one goes at once; those that come meanwhile go together as the next', async () => {
    const { writes, write } = slowWrites();
    const add = grouped(write);
    const first = add('a');
    const others = [add('b'), add('c')];
    expect(writes.map(({ items }) => items)).toEqual([['a']]);
    writes[0]?.end();
    await first;
    expect(writes.map(({ items }) => items)).toEqual([['a'], ['b', 'c']]);
    writes[1]?.end();
    await Promise.all(others);
    const last = add('d');
    expect(writes).toHaveLength(3);
    writes[2]?.end();
    await last;
  });

  it('a failure is that of those who went together and of nobody else', async () => {
    const { writes, write } = slowWrites();
    const add = grouped(write);
    const first = add('a');
    const second = add('b');
    writes[0]?.fail();
    await expect(first).rejects.toThrow('away');
    writes[1]?.end();
    await second;
  });
});
