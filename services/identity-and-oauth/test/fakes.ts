import type { Bus, CloudEvent } from '@bubbles/shared/bus/bus.ts';
import type { AssertionKeyStore, SealedKey } from '../src/ports.ts';

export const fakeAssertionKeyStore = (): AssertionKeyStore => {
  const keys: SealedKey[] = [];
  return {
    all: () => Promise.resolve(keys.toSorted((a, b) => a.slot - b.slot)),
    insert: (key) => {
      const taken = keys.some(({ slot }) => slot === key.slot);
      if (!taken) keys.push(key);
      return Promise.resolve(!taken);
    },
    dropDue: (now) => {
      for (const key of [...keys]) if (key.dropAt <= now) keys.splice(keys.indexOf(key), 1);
      return Promise.resolve();
    },
  };
};

export interface HeardBus extends Bus {
  /** Everything that was published, oldest first. */
  readonly heard: readonly CloudEvent[];
}

/** Confirms every message and keeps it. */
export const hearingBus = (): HeardBus => {
  const heard: CloudEvent[] = [];
  return {
    heard,
    publish: (_definition, event) => {
      heard.push(event);
      return Promise.resolve();
    },
    subscribe: () => Promise.resolve(),
    idle: () => Promise.resolve(),
    close: () => Promise.resolve(),
  };
};
