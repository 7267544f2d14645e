import { describe, expect, it } from '@jest/globals';
import { CheckAnswers } from './check-answers.ts';

describe('answers of a newer release of identity', () => {
  it('are read without what this release does not know, which lets nobody in', () => {
    const budget = { limit: 120, remaining: 1, reset_seconds: 1 };
    const { answers } = CheckAnswers.parse({
      made_in_ms: 3,
      answers: [
        { h: 'a', outcome: 'allowed', assertion: 'x', ...budget, tier: 'gold' },
        { h: 'b', outcome: 'refused', type: 'device_lost' },
        { h: 'c', outcome: 'refused', type: 'toString' },
        { h: 'd', outcome: 'challenged', by: 'mail' },
        { h: 'e', outcome: 'allowed', ...budget },
      ],
    });
    expect(answers).toEqual([
      { h: 'a', outcome: 'allowed', assertion: 'x', ...budget },
      { h: 'b', outcome: 'refused', type: 'unauthorized' },
      { h: 'c', outcome: 'refused', type: 'unauthorized' },
      { h: 'd', outcome: 'unknown' },
      { h: 'e', outcome: 'unknown' },
    ]);
  });
});
