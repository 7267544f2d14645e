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
    deleteDue: (now) => {
      for (const key of [...keys]) if (key.deleteAt <= now) keys.splice(keys.indexOf(key), 1);
      return Promise.resolve();
    },
  };
};
