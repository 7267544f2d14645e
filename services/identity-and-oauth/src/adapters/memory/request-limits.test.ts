import { fakeClock } from '@bubbles/testing/fake-clock.ts';
import { describe, expect, it } from '@jest/globals';
import { createRequestLimit } from './request-limits.ts';

const started = () => {
  const clock = fakeClock();
  const limit = createRequestLimit({ perMinute: 20, burst: 60 }, clock);
  /** How many of these requests pass, and how long the last one that does not has to wait. */
  const ask = (times: number, ...caller: readonly string[]) => {
    let passed = 0;
    let retryAfterSeconds: number | null = null;
    for (let i = 0; i < times; i += 1) {
      try {
        limit.take(...caller);
        passed += 1;
      } catch (error) {
        retryAfterSeconds = Object(error).retryAfterSeconds;
      }
    }
    return { passed, retryAfterSeconds };
  };
  return { clock, ask };
};

describe('the limit of requests', () => {
  it('lets a burst through, then as many as come back', async () => {
    const { clock, ask } = started();
    expect(ask(61, 'a')).toEqual({ passed: 60, retryAfterSeconds: 3 });
    await clock.advance(2999);
    expect(ask(1, 'a')).toEqual({ passed: 0, retryAfterSeconds: 1 });
    await clock.advance(1);
    expect(ask(2, 'a')).toEqual({ passed: 1, retryAfterSeconds: 3 });
    await clock.advance(60_000);
    expect(ask(21, 'a').passed).toBe(20);
    await clock.advance(180_000);
    expect(ask(61, 'a').passed).toBe(60);
  });

  it('counts each caller alone', () => {
    const { ask } = started();
    ask(61, 'a', 'b');
    expect(ask(1, 'a', 'b').passed).toBe(0);
    expect([ask(1, 'a', 'c').passed, ask(1, 'ab').passed, ask(1, 'a').passed]).toEqual([1, 1, 1]);
  });

  it('does not count what it refuses', async () => {
    const { clock, ask } = started();
    ask(1000, 'a');
    await clock.advance(3000);
    expect(ask(1, 'a').passed).toBe(1);
  });
});
