import { describe, expect, it } from '@jest/globals';
import { aDelivery, NOON } from '../../test/builders.ts';
import { lateness, record, retryDelaySeconds, wasLostTooOften } from './delivery.ts';
import type { AttemptResult, Outcome } from './outcome.ts';

const result = (outcome: Outcome): AttemptResult => ({
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
    expect(record(aDelivery(), result('5xx'), times)).toMatchObject({
      status: 'pending',
      attempt: 1,
      claims: 1,
      claimableAt: at(63),
      finishedAt: null,
    });
    expect(record(aDelivery({ attempt: 3 }), result('timeout'), times).claimableAt).toEqual(at(483));
  });

  it('[DLV-04] the fifth failed attempt is the last', () => {
    expect(record(aDelivery({ attempt: 3 }), result('5xx'), times).status).toBe('pending');
    expect(record(aDelivery({ attempt: 4 }), result('5xx'), times)).toMatchObject({ status: 'exhausted', attempt: 5, finishedAt: at(3) });
  });

  it('[DLV-04] any 2xx is success', () => {
    expect(record(aDelivery({ attempt: 2 }), result('2xx'), times)).toMatchObject({ status: 'succeeded', finishedAt: at(3) });
  });

  it('a redelivery has a schedule of its own, and goes on counting', () => {
    expect(record(aDelivery({ attempt: 5, base: 5 }), result('5xx'), times)).toMatchObject({
      status: 'pending',
      attempt: 6,
      claimableAt: at(63),
    });
    expect(record(aDelivery({ attempt: 9, base: 5 }), result('5xx'), times).status).toBe('exhausted');
  });

  it('a test to a disabled subscription is tried once', () => {
    expect(record(aDelivery({ budget: 1 }), result('5xx'), times).status).toBe('exhausted');
  });

  it('three claims without a word use up an attempt', () => {
    expect([1, 2, 3, 4].map((claims) => wasLostTooOften(aDelivery({ claims })))).toEqual([false, false, false, true]);
    expect(wasLostTooOften(aDelivery({ attempt: 2, claims: 3 }))).toBe(false);
  });

  it('lateness is from when the attempt fell due', () => {
    expect(lateness(aDelivery(), at(2))).toBe(2000);
    const first = { n: 1, startedAt: at(0), tookMs: 1000, status: null, outcome: 'timeout', preview: null } as const;
    expect(lateness(aDelivery({ attempt: 1, log: [first] }), at(63))).toBe(2000);
  });
});
