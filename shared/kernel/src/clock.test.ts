import { setImmediate } from 'node:timers/promises';
import { describe, expect, it, jest } from '@jest/globals';
import { systemClock } from './clock.ts';

const HOUR_MS = 3_600_000;

describe('a clock of the system', () => {
  it.each(['due', 'poll'] as const)('wakes a sleeper of kind %s when the time has come', async (kind) => {
    const clock = systemClock();
    const soon = new Date(clock.now().getTime() + 5);
    await clock.sleepUntil(soon, kind);
    expect(clock.now().getTime()).toBeGreaterThanOrEqual(soon.getTime());
  });
});

describe('a clock of the system that is set back while somebody sleeps', () => {
  const setBack = () => {
    let wallMs = Date.UTC(2026, 0, 1);
    const clock = systemClock(() => wallMs);
    const soon = new Date(wallMs + 5);
    return {
      clock,
      soon,
      set: (ms: number) => {
        wallMs += ms;
      },
    };
  };

  it('lets who looks for work look again as soon as before', async () => {
    const { clock, soon, set } = setBack();
    const looks = clock.sleepUntil(soon, 'poll');
    set(-HOUR_MS);
    await looks;
    expect(clock.now().getTime()).toBeLessThan(soon.getTime());
  });

  it('keeps who waits for a time asleep until then', async () => {
    const { clock, soon, set } = setBack();
    const ending = new AbortController();
    let awake = false;
    const waits = clock.sleepUntil(soon, 'due', ending.signal).then(() => {
      awake = true;
    });
    set(-HOUR_MS);
    await clock.sleepUntil(new Date(clock.now().getTime() + 20), 'poll');
    await setImmediate();
    expect(awake).toBe(false);
    ending.abort();
    await waits;
  });
});

describe('a clock of the system that is set forward while somebody sleeps', () => {
  it.each(['due', 'poll'] as const)('wakes a sleeper of kind %s within a minute', async (kind) => {
    jest.useFakeTimers();
    try {
      const clock = systemClock();
      let awake = false;
      const sleeps = clock.sleepUntil(new Date(Date.now() + 24 * HOUR_MS), kind).then(() => {
        awake = true;
      });
      await jest.advanceTimersByTimeAsync(HOUR_MS);
      expect(awake).toBe(false);
      // As after a machine was suspended: the timers have stood still.
      jest.setSystemTime(Date.now() + 25 * HOUR_MS);
      await jest.advanceTimersByTimeAsync(60_000);
      expect(awake).toBe(true);
      await sleeps;
    } finally {
      jest.useRealTimers();
    }
  });
});
