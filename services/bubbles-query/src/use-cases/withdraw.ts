import type { Clock } from '@bubbles/kernel/clock.ts';
import { withoutReaders } from '../domain/bubble.ts';
import type { BubbleStore } from '../ports.ts';

const BUBBLES_AT_ONCE = 100;

/** Takes expired bubbles out of the indexes of lists, so that no page has to skip them. */
export const withdrawExpired =
  ({ bubbles, clock }: { readonly bubbles: BubbleStore; readonly clock: Clock }) =>
  async (): Promise<void> => {
    const now = clock.now();
    const withdraw = (id: string) =>
      bubbles.change(id, (bubble) => {
        const state = withoutReaders(bubble, now);
        return state && { state, events: [] };
      });
    for (;;) {
      const ids = await bubbles.idsToWithdraw(now, BUBBLES_AT_ONCE);
      await Promise.all(ids.map(withdraw));
      if (ids.length < BUBBLES_AT_ONCE) return;
    }
  };
