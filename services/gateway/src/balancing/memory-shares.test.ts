import { describe, expect, it } from '@jest/globals';
import { createMemoryShares } from './memory-shares.ts';

const world = () => {
  const evicted: string[] = [];
  const shares = createMemoryShares({ totalBytes: 100, shareBytes: 50 });
  return { evicted, hold: (peer: string, name: string) => shares.hold(peer, () => void evicted.push(name)) };
};

describe('[GEN-14] shares of memory', () => {
  it('evict the oldest holder of a peer that is above its share, and nobody else', () => {
    const { evicted, hold } = world();
    const [first, second, other] = [hold('a', 'first'), hold('a', 'second'), hold('b', 'other')];
    first.grow(30);
    second.grow(20);
    other.grow(50);
    expect(evicted).toEqual([]);
    second.grow(1);
    expect(evicted).toEqual(['first']);
    second.grow(29);
    expect(evicted).toEqual(['first']);
  });

  it('evict above the total the oldest holder of the peer that holds most', () => {
    const { evicted, hold } = world();
    hold('a', 'a').grow(40);
    hold('b', 'b').grow(50);
    const late = hold('c', 'c');
    late.grow(10);
    expect(evicted).toEqual([]);
    late.grow(1);
    expect(evicted).toEqual(['b']);
  });

  it('evict those who make progress last', () => {
    const { evicted, hold } = world();
    const moving = hold('a', 'moving');
    moving.grow(30);
    hold('a', 'stalled').grow(20);
    moving.shrink(1);
    moving.grow(2);
    expect(evicted).toEqual(['stalled']);
  });

  it('evict one holder that alone is above its share', () => {
    const { evicted, hold } = world();
    hold('a', 'greedy').grow(51);
    expect(evicted).toEqual(['greedy']);
  });

  it('give back what was released, once', () => {
    const { evicted, hold } = world();
    const first = hold('a', 'first');
    first.grow(50);
    first.release();
    first.release();
    first.grow(50);
    first.shrink(50);
    hold('a', 'second').grow(50);
    expect(evicted).toEqual([]);
  });
});
