import { fakeClock } from '@bubbles/testing/fake-clock.ts';
import { describe, expect, it } from '@jest/globals';
import { seqAt } from '../domain/search-card.ts';
import { createFeed, type Stamp } from './feed.ts';

const START = new Date('2026-03-01T12:00:00.000Z');

/** A clock that a write can move on at once. */
const clockwork = () => {
  const clock = fakeClock(START);
  let passedMs = 0;
  return {
    ...clock,
    now: () => new Date(START.getTime() + passedMs),
    monotonic: () => passedMs,
    pass: (ms: number) => {
      passedMs += ms;
    },
  };
};

describe('writes into a feed', () => {
  it('have numbers that rise with the clock and within a millisecond', async () => {
    const clock = clockwork();
    const feed = createFeed(clock);
    const seqs: number[] = [];
    const write = async ({ seq }: Stamp) => {
      await Promise.resolve();
      seqs.push(seq);
    };
    await feed(write);
    await feed(write);
    clock.pass(10);
    await feed(write);
    expect(seqs).toEqual([seqAt(START.getTime()), seqAt(START.getTime()) + 1, seqAt(START.getTime() + 10)]);
  });

  it('[SRCH-04] are made again with a new number when they were acknowledged after more than 5 seconds', async () => {
    const clock = clockwork();
    const stamps: Stamp[] = [];
    const durations = [5001, 60_000, 5000];
    await createFeed(clock)(async (stamp) => {
      await Promise.resolve();
      stamps.push(stamp);
      clock.pass(durations[stamps.length - 1] ?? 0);
    });
    expect(stamps.map(({ at }) => at.getTime() - START.getTime())).toEqual([0, 5001, 65_001]);
    expect(stamps.map(({ seq }) => seq)).toEqual([0, 5001, 65_001].map((ms) => seqAt(START.getTime() + ms)));
  });

  it('fail with the write', async () => {
    const failing = () => Promise.reject(new Error('the store is away'));
    await expect(createFeed(clockwork())(failing)).rejects.toThrow('the store is away');
  });
});
