import { describe, expect, it } from '@jest/globals';
import { fakeClock } from './fake-clock.ts';
import { fakeIds } from './fake-ids.ts';

describe('fakeClock', () => {
  it('wakes sleepers in the order of their due times, each at its time', async () => {
    const clock = fakeClock(new Date(0));
    const woken: [string, number][] = [];
    const sleep = async (name: string, at: number) => {
      await clock.sleepUntil(new Date(at), 'due');
      woken.push([name, clock.now().getTime()]);
    };
    const sleeping = [sleep('c', 30), sleep('a', 10), sleep('b', 20)];
    await clock.advance(25);
    expect(woken).toEqual([
      ['a', 10],
      ['b', 20],
    ]);
    await clock.advance(5);
    await Promise.all(sleeping);
    expect(clock.now()).toEqual(new Date(30));
  });

  it('does not step to polls: one that was passed wakes once, at the end', async () => {
    const clock = fakeClock(new Date(0));
    const woken: number[] = [];
    const poll = async () => {
      await clock.sleepUntil(new Date(clock.now().getTime() + 10), 'poll');
      woken.push(clock.now().getTime());
    };
    const polling = poll();
    await clock.advance(100);
    await polling;
    expect(woken).toEqual([100]);
  });

  it('work that is begun by a step and falls due within it is stepped to', async () => {
    const clock = fakeClock(new Date(0));
    const woken: number[] = [];
    const every = async (ms: number, times: number): Promise<void> => {
      if (times === 0) return;
      await clock.sleepUntil(new Date(clock.now().getTime() + ms), 'due');
      woken.push(clock.now().getTime());
      await every(ms, times - 1);
    };
    const work = every(10, 3);
    await clock.advance(35);
    await work;
    expect(woken).toEqual([10, 20, 30]);
  });

  it('an aborted sleep ends at once', async () => {
    const clock = fakeClock();
    const ending = new AbortController();
    const sleep = clock.sleepUntil(new Date(clock.now().getTime() + 1_000), 'due', ending.signal);
    ending.abort();
    await expect(sleep).resolves.toBeUndefined();
  });
});

describe('fakeIds', () => {
  it('gives the same distinct version 4 uuids and bytes for the same seed', () => {
    const [one, other] = [fakeIds(), fakeIds()];
    const drawn = Array.from({ length: 50 }, () => one.uuid());
    expect(new Set(drawn).size).toBe(50);
    expect(drawn).toEqual(Array.from({ length: 50 }, () => other.uuid()));
    for (const uuid of drawn) expect(uuid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(one.bytes(70)).toEqual(other.bytes(70));
    expect(one.bytes(70)).toHaveLength(70);
  });
});
