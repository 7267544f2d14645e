import { setImmediate as nextIteration } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { turnsInOrder } from './time-slices.ts';

describe('turns', () => {
  it('come in order, one in each round of the event loop', async () => {
    const nextTurn = turnsInOrder();
    const order: string[] = [];
    const waiting = ['a', 'b', 'c'].map(async (name) => {
      await nextTurn();
      order.push(name);
    });
    for (let round = 0; round < 4; round++) {
      await nextIteration();
      order.push('|');
    }
    await Promise.all(waiting);
    expect(order.join('').replace(/\|+$/, '')).toMatch(/^\|?a\|b\|c$/);
  });
});
