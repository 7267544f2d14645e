import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import type { Clock } from '@bubbles/kernel/clock.ts';
import { batchWhileBusy, singleFlight } from '@bubbles/kernel/concurrency.ts';
import type { Ids } from '@bubbles/kernel/ids.ts';
import type { Seal } from '@bubbles/kernel/seal.ts';
import { calculateJwkThumbprint } from 'jose';
import { type KeyLifecycle, maySign, nextLifecycle, publishedKeys, signingKeyOf } from '../../domain/key-lifecycle.ts';
import type { Ed25519Key, P256Key, SealedKey, SigningKeyStore, SigningKeys } from '../../ports.ts';

const SEED_BYTES = 32;
/** How long a key is used without a look at the store: one that was restored from a backup may not have it. */
const CONFIRMED_FOR_MS = 10_000;

/** How keys of one algorithm are made and read. */
interface KeyAlgorithm<K> {
  /** The private part of a new key, as it is sealed. */
  draw(ids: Ids): Buffer;
  open(secret: Buffer): KeyObject;
  publicKeyOf(key: KeyObject): K;
}

/** Sealed as its seed. */
export const ED25519: KeyAlgorithm<Ed25519Key> = {
  draw: (ids) => ids.bytes(SEED_BYTES),
  open: (seed) => createPrivateKey({ key: seed, format: 'raw-private', asymmetricKeyType: 'ed25519' }),
  publicKeyOf: (key) => {
    const { x = '' } = createPublicKey(key).export({ format: 'jwk' });
    return { kty: 'OKP', crv: 'Ed25519', x };
  },
};

/** Sealed as PKCS#8. */
export const ES256: KeyAlgorithm<P256Key> = {
  draw: () => generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'der', type: 'pkcs8' }),
  open: (der) => createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }),
  publicKeyOf: (key) => {
    const { x = '', y = '' } = createPublicKey(key).export({ format: 'jwk' });
    return { kty: 'EC', crv: 'P-256', x, y };
  },
};

interface SigningKey {
  readonly kid: string;
  readonly key: KeyObject;
}

export interface KeyRing<K> extends SigningKeys<K> {
  /** The key that signs now; made on the spot when there is none. */
  current(): Promise<SigningKey>;
  /** Proves that the master keys open every key that signs now or later. */
  check(): Promise<void>;
  /** The public key of that id; null when the store has no such key. */
  find(kid: string): Promise<KeyObject | null>;
}

interface RingOptions<K> {
  readonly keys: SigningKeyStore<K>;
  readonly algorithm: KeyAlgorithm<K>;
  /** How long a key is published after it has signed: as long as a token lives, besides caches of the key set and skew of clocks. */
  readonly keepAfterMs: number;
  readonly seal: Seal;
  readonly clock: Clock;
  readonly ids: Ids;
}

/** Keys of all replicas: the store holds them, the clock says which one signs. */
export const createKeyRing = <K extends Ed25519Key | P256Key>({
  keys,
  algorithm,
  keepAfterMs,
  seal,
  clock,
  ids,
}: RingOptions<K>): KeyRing<K> => {
  let signing: (SigningKey & KeyLifecycle) | null = null;
  let confirmedUntilMs = 0;

  /** A key that the store does not have must not sign any more, since nobody could verify what it signs. */
  const readStored = async (): Promise<readonly SealedKey<K>[]> => {
    const stored = await keys.all();
    if (!stored.some(({ kid }) => kid === signing?.kid)) signing = null;
    return stored;
  };
  const makeDue = async (existing: readonly SealedKey<K>[]): Promise<readonly SealedKey<K>[]> => {
    const next = nextLifecycle(existing, { now: clock.now(), keepAfterMs });
    if (!next) return existing;
    const secret = algorithm.draw(ids);
    const publicKey = algorithm.publicKeyOf(algorithm.open(secret));
    const kid = await calculateJwkThumbprint({ ...publicKey });
    await keys.insert({ ...next, kid, publicKey, sealed: seal.seal(secret, kid) });
    return keys.all();
  };
  const load = singleFlight(async (): Promise<SigningKey> => {
    try {
      const due = signingKeyOf(await makeDue(await readStored()), clock.now());
      if (!due) throw new Error('no key signs now, though one was made');
      if (signing?.kid !== due.kid) signing = { ...due, key: algorithm.open(seal.unseal(due.sealed, due.kid)) };
      confirmedUntilMs = clock.monotonic() + CONFIRMED_FOR_MS;
      return signing;
    } catch (error) {
      if (signing && maySign(signing, clock.now())) return signing;
      throw error;
    }
  });
  // One read at a time, however many ask for the keys without a credential.
  const published = batchWhileBusy(async () =>
    publishedKeys(await readStored(), { now: clock.now(), keepAfterMs }).map(({ kid, publicKey }) => ({ ...publicKey, kid })),
  );

  return {
    current: () => {
      if (signing && maySign(signing, clock.now()) && clock.monotonic() < confirmedUntilMs) return Promise.resolve(signing);
      return load();
    },
    check: async () => {
      await load();
      for (const key of await readStored()) if (maySign(key, clock.now())) algorithm.open(seal.unseal(key.sealed, key.kid));
    },
    published,
    find: publicKeyFinder(published, clock),
    rotate: async () => {
      await makeDue(await keys.all());
      await keys.deleteDue(clock.now(), keepAfterMs);
    },
  };
};

/** Reads them again when one is unknown, which another replica may have made just now. */
const publicKeyFinder = <K extends Ed25519Key | P256Key>(published: KeyRing<K>['published'], clock: Clock): KeyRing<K>['find'] => {
  let known: ReadonlyMap<string, KeyObject> = new Map();
  let confirmedUntilMs = 0;

  const read = batchWhileBusy(async () => {
    const shown = await published();
    known = new Map(shown.map((jwk) => [jwk.kid, known.get(jwk.kid) ?? createPublicKey({ key: { ...jwk }, format: 'jwk' })]));
    confirmedUntilMs = clock.monotonic() + CONFIRMED_FOR_MS;
  });
  return async (kid) => {
    if (clock.monotonic() >= confirmedUntilMs || !known.has(kid)) await read();
    return known.get(kid) ?? null;
  };
};
