import { describe, expect, it } from '@jest/globals';
import { CircuitBreaker, RetryBudget } from './circuit-breaker.ts';

const opened = () => {
  const breaker = new CircuitBreaker();
  for (let index = 0; index < 10; index += 1) breaker.failed(index);
  return breaker;
};

describe('circuit breaker', () => {
  it('[ERR-05] opens at half of the last twenty, not before', () => {
    const breaker = new CircuitBreaker();
    for (let index = 0; index < 9; index += 1) {
      breaker.failed(index);
      breaker.succeeded(index);
    }
    expect(breaker.tryPass(20)).toBe(true);
    breaker.failed(20);
    expect(breaker.tryPass(21)).toBe(false);
    expect(breaker.state).toBe('open');
  });

  it('[ERR-05] forgets failures after ten seconds and behind twenty later outcomes', () => {
    const slow = new CircuitBreaker();
    for (let index = 0; index < 30; index += 1) slow.failed(index * 2000);
    expect(slow.state).toBe('closed');
    const healed = new CircuitBreaker();
    for (let index = 0; index < 9; index += 1) healed.failed(index);
    for (let index = 0; index < 20; index += 1) healed.succeeded(10);
    for (let index = 0; index < 9; index += 1) healed.failed(11);
    expect(healed.state).toBe('closed');
  });

  it('[ERR-05] lets one probe through after two seconds, whose outcome decides', () => {
    const breaker = opened();
    expect(breaker.tryPass(2008)).toBe(false);
    expect(breaker.tryPass(2009)).toBe(true);
    expect(breaker.tryPass(2009)).toBe(false);
    breaker.failed(2100);
    expect(breaker.tryPass(4000)).toBe(false);
    expect(breaker.tryPass(4100)).toBe(true);
    breaker.succeeded(4101);
    expect([breaker.state, breaker.tryPass(4102)]).toEqual(['closed', true]);
  });

  it('[ERR-05] a probe that its client left makes room for the next', () => {
    const breaker = opened();
    breaker.tryPass(2009);
    breaker.abandoned(2010);
    expect(breaker.isReady(2010)).toBe(true);
    expect(breaker.tryPass(2010)).toBe(true);
  });

  it('[ERR-05] late outcomes of requests from before it opened do not prolong the pause', () => {
    const breaker = opened();
    breaker.failed(1500);
    expect(breaker.tryPass(2009)).toBe(true);
  });
});

describe('retry budget', () => {
  it('[ERR-05] retries are a tenth of the requests', () => {
    const budget = new RetryBudget();
    while (budget.spend()) expect(true).toBe(true);
    for (let index = 0; index < 1000; index += 1) budget.earn();
    let retries = 0;
    for (let index = 0; index < 1000; index += 1) {
      budget.earn();
      if (budget.spend()) retries += 1;
    }
    expect(retries).toBeGreaterThan(90);
    expect(retries).toBeLessThanOrEqual(111);
  });
});
