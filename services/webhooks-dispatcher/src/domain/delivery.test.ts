import { describe, expect, it } from '@jest/globals';
import { aDelivery, NOON } from '../../test/builders.ts';
import { type AttemptOutcome, afterAttempt, lateness, retryDelaySeconds, wasLostTooOften } from './delivery.ts';

const result = (outcome: AttemptOutcome['outcome']): AttemptOutcome => ({
  outcome,
  status: outcome === '2xx' ? 204 : 500,
  tookMs: 100,
  preview: null,
  detail: null,
});
const at = (seconds: number) => new Date(NOON.getTime() + seconds * 1000);
const times = { startedAt: at(0), endedAt: at(3) };

describe('section 6, retries', () => {
  it('[DLV-04] the delay is 60 x 2^(n-1) seconds, at most 900', () => {
    expect([1, 2, 3, 4, 5, 6].map(retryDelaySeconds)).toEqual([60, 120, 240, 480, 900, 900]);
  });

  it('[DLV-04] the delay counts from the end of the failed attempt', () => {
    expect(afterAttempt(aDelivery(), result('5xx'), times)).toMatchObject({
      status: 'pending',
      attemptCount: 1,
      claimCount: 1,
      claimableAt: at(63),
      finishedAt: null,
    });
    expect(afterAttempt(aDelivery({ attemptCount: 3 }), result('timeout'), times).claimableAt).toEqual(at(483));
  });

  it('[DLV-04] the fifth failed attempt is the last', () => {
    expect(afterAttempt(aDelivery({ attemptCount: 3 }), result('5xx'), times).status).toBe('pending');
    expect(afterAttempt(aDelivery({ attemptCount: 4 }), result('5xx'), times)).toMatchObject({
      status: 'exhausted',
      attemptCount: 5,
      finishedAt: at(3),
    });
  });

  it('[DLV-04] any 2xx is success', () => {
    expect(afterAttempt(aDelivery({ attemptCount: 2 }), result('2xx'), times)).toMatchObject({ status: 'succeeded', finishedAt: at(3) });
  });

  it('a redelivery has a schedule of its own, and goes on counting', () => {
    expect(afterAttempt(aDelivery({ attemptCount: 5, attemptsBeforeQueue: 5 }), result('5xx'), times)).toMatchObject({
      status: 'pending',
      attemptCount: 6,
      claimableAt: at(63),
    });
    expect(afterAttempt(aDelivery({ attemptCount: 9, attemptsBeforeQueue: 5 }), result('5xx'), times).status).toBe('exhausted');
  });

  it('a test to a disabled subscription is tried once', () => {
    expect(afterAttempt(aDelivery({ maxAttempts: 1 }), result('5xx'), times).status).toBe('exhausted');
  });

  it('three claims without a word use up an attempt', () => {
    expect([1, 2, 3, 4].map((claimCount) => wasLostTooOften(aDelivery({ claimCount })))).toEqual([false, false, false, true]);
    expect(wasLostTooOften(aDelivery({ attemptCount: 2, claimCount: 3 }))).toBe(false);
  });

  it('lateness is from when the attempt fell due', () => {
    expect(lateness(aDelivery(), at(2))).toBe(2000);
    const first = { number: 1, startedAt: at(0), tookMs: 1000, status: null, outcome: 'timeout', preview: null } as const;
    expect(lateness(aDelivery({ attemptCount: 1, log: [first] }), at(63))).toBe(2000);
  });
});
