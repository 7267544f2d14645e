import type { Bus, EventDefinition } from '@bubbles/shared/bus/bus.ts';
import type { MemoryBus } from '@bubbles/shared/bus/memory.ts';
import { DomainError } from '@bubbles/shared/errors.ts';

/** The same bus, with a count of what was handed to it and not given back: work that made other work. What a consumer that is down refuses makes none. */
export interface CountedBus extends MemoryBus {
  published(): number;
}

export function countedBus(bus: MemoryBus): CountedBus {
  let count = 0;
  const counting = (end: Bus): Bus => ({
    ...end,
    async publish(definition: EventDefinition, event) {
      count += 1;
      try {
        await end.publish(definition, event);
      } catch (error) {
        count -= 1;
        throw error;
      }
    },
  });
  return { ...bus, ...counting(bus), connect: () => counting(bus.connect()), published: () => count };
}

interface Settling {
  readonly bus: CountedBus;
  /** Each resolves when its part has done all that is due. In the order in which work flows, so that one round mostly suffices. */
  readonly parts: () => readonly (() => Promise<void>)[];
}

const LIMIT_MS = 30_000;

/** Resolves when a whole round made no new work. */
export const settling =
  ({ bus, parts }: Settling) =>
  async (): Promise<void> => {
    const rounds = async () => {
      for (let before = -1; before !== bus.published(); ) {
        before = bus.published();
        bus.retryNow();
        for (const settle of parts()) {
          await settle();
          await bus.idle();
        }
      }
    };
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => reject(new DomainError('internal', 'Something is still in flight after 30 seconds.')), LIMIT_MS);
    });
    try {
      await Promise.race([rounds(), late]);
    } finally {
      clearTimeout(timer);
    }
  };
