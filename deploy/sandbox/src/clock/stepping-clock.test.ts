import { describe, expect, it } from '@jest/globals';
import { steppingClock } from './stepping-clock.ts';

const setUp = () => {
  const kept: number[] = [];
  const log: string[] = [];
  const clock = steppingClock({
    aheadMs: 0,
    keep: (ms) => Promise.resolve(void kept.push(ms)),
    // Lets the work of a step run: it is made of microtasks here.
    settle: () => new Promise((resolve) => setImmediate(resolve)),
  });
  const start = clock.now().getTime();
  const sleep = (seconds: number, kind: 'due' | 'poll', name: string) =>
    clock
      .sleepUntil(new Date(start + seconds * 1000), kind)
      .then(() => void log.push(`${name}@${Math.round((clock.now().getTime() - start) / 1000)}`));
  return { clock, kept, log, sleep, start };
};

describe('the sandbox clock', () => {
  it('steps from due time to due time and stands still while the work runs', async () => {
    const { clock, log, sleep } = setUp();
    const chain = sleep(60, 'due', 'first').then(() => sleep(180, 'due', 'second'));
    await clock.advance(300_000);
    await chain;
    expect(log).toEqual(['first@60', 'second@180']);
  });

  it('does not step to polls: one that was passed wakes once at the end', async () => {
    const { clock, log, sleep } = setUp();
    const all = Promise.all([sleep(10, 'poll', 'poll'), sleep(60, 'due', 'due')]);
    await clock.advance(100_000);
    await all;
    expect(log).toEqual(['due@60', 'poll@100']);
  });

  it('leaves what is due later asleep', async () => {
    const { clock, log, sleep } = setUp();
    const later = sleep(61, 'due', 'later');
    await clock.advance(59_000);
    expect(log).toEqual([]);
    await clock.advance(3_000);
    await later;
    expect(log).toHaveLength(1);
  });

  it('keeps the new time before the work of a step runs', async () => {
    const { clock, kept, sleep } = setUp();
    const seen: number[] = [];
    const work = sleep(60, 'due', 'work').then(() => seen.push(kept.length));
    await clock.advance(60_000);
    await work;
    expect(seen).toEqual([2]);
    expect(kept.at(-1)).toBeGreaterThan(59_000);
  });

  it('runs on from where it was moved to', async () => {
    const { clock, start } = setUp();
    const reached = await clock.advance(3_600_000);
    expect(reached.getTime() - start).toBeGreaterThanOrEqual(3_600_000);
    expect(clock.now().getTime()).toBeGreaterThanOrEqual(reached.getTime());
    expect(clock.monotonic()).toBeGreaterThan(start + 3_599_000);
  });

  it('goes back to real time at a reset: sleepers wake, and what never goes back does not', async () => {
    const { clock, kept, log, sleep } = setUp();
    await clock.advance(3_600_000);
    const before = clock.monotonic();
    const sleeping = Promise.all([sleep(7200, 'due', 'due'), sleep(7300, 'poll', 'poll')]);
    await clock.reset();
    await sleeping;
    expect(log).toEqual(['due@0', 'poll@0']);
    expect(kept.at(-1)).toBe(0);
    expect(Math.abs(clock.now().getTime() - Date.now())).toBeLessThan(1000);
    expect(clock.monotonic()).toBeGreaterThanOrEqual(before);
    expect(clock.monotonic()).toBeLessThan(before + 1000);
  });

  it('wakes a sleeper whose signal aborts', async () => {
    const { clock } = setUp();
    const stop = new AbortController();
    const sleeping = clock.sleepUntil(new Date(Date.now() + 3_600_000), 'due', stop.signal);
    stop.abort();
    await expect(sleeping).resolves.toBeUndefined();
  });
});
