import { cursorsWith } from '@bubbles/kernel/cursors.ts';
import { describe, expect, it } from '@jest/globals';
import { cursors } from './cursors.ts';

describe('cursors that earlier releases issued', () => {
  const { deliveries, subscriptions } = cursors(cursorsWith({ current: Buffer.alloc(32, 1), previous: null }));
  const createdAt = new Date(1_714_000_000_123);

  it('[LIST-08] of the delivery log are read and written as ever', () => {
    const [text, scope] = ['AQEBkwSKS1UkAY8SXHR7ZGVsaXZlcnktMcJeJ_3V0_6j', ['ada', 'subscription-1', 'exhausted']];
    expect(deliveries.decode(text, scope)).toEqual({ createdAt, id: 'delivery-1' });
    expect(deliveries.encode({ createdAt, id: 'delivery-1' }, scope)).toBe(text);
  });

  it('[LIST-08] of subscriptions are read and written as ever', () => {
    const text = 'AQEC7AEVVdbgAY8SXHR7c3Vic2NyaXB0aW9uLTFO6R7NkTWvRg';
    expect(subscriptions.decode(text, ['ada'])).toEqual({ createdAt, id: 'subscription-1' });
    expect(subscriptions.encode({ createdAt, id: 'subscription-1' }, ['ada'])).toBe(text);
  });
});
