import type { SealedKey, SigningKeyStore } from '../src/ports.ts';

export const fakeSigningKeyStore = <K>(): SigningKeyStore<K> => {
  const keys: SealedKey<K>[] = [];
  return {
    all: () => Promise.resolve(keys.toSorted((a, b) => a.slot - b.slot)),
    insert: (key) => {
      const taken = keys.some(({ slot }) => slot === key.slot);
      if (!taken) keys.push(key);
      return Promise.resolve(!taken);
    },
    deleteDue: (now, keepAfterMs) => {
      const isOver = ({ deleteAt, signUntil }: SealedKey<K>) => deleteAt <= now && signUntil.getTime() + keepAfterMs <= now.getTime();
      for (const key of keys.filter(isOver)) keys.splice(keys.indexOf(key), 1);
      return Promise.resolve();
    },
  };
};
