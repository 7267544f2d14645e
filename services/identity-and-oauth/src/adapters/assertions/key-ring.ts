import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import type { Clock } from '@bubbles/kernel/clock.ts';
import { singleFlight } from '@bubbles/kernel/concurrency.ts';
import type { Ids } from '@bubbles/kernel/ids.ts';
import type { Seal } from '@bubbles/kernel/seal.ts';
import { calculateJwkThumbprint } from 'jose';
import { isPublished, type KeyLifecycle, maySign, nextLifecycle, signingKeyOf } from '../../domain/key-lifecycle.ts';
import type { AssertionKeyStore, AssertionKeys, PublicKey, SealedKey } from '../../ports.ts';

const SEED_BYTES = 32;
/** How long a key signs without a look at the store: one that was restored from a backup may not have it. */
const CONFIRMED_FOR_MS = 10_000;

interface SigningKey {
  readonly kid: string;
  readonly key: KeyObject;
}

export interface KeyRing extends AssertionKeys {
  /** The key that signs now; made on the spot when there is none. */
  current(): Promise<SigningKey>;
}

interface RingOptions {
  readonly keys: AssertionKeyStore;
  readonly seal: Seal;
  readonly clock: Clock;
  readonly ids: Ids;
}

/** Ed25519 keys of all replicas: the store holds them, the clock says which one signs. */
export const createKeyRing = ({ keys, seal, clock, ids }: RingOptions): KeyRing => {
  let signing: (SigningKey & KeyLifecycle) | null = null;
  let confirmedUntilMs = 0;

  /** A key that the store does not have must not sign any more, since nobody could verify what it signs. */
  const readStored = async (): Promise<readonly SealedKey[]> => {
    const stored = await keys.all();
    if (!stored.some(({ kid }) => kid === signing?.kid)) signing = null;
    return stored;
  };
  const makeDue = async (existing: readonly SealedKey[]): Promise<readonly SealedKey[]> => {
    const next = nextLifecycle(existing, clock.now());
    if (!next) return existing;
    await keys.insert(await sealedKey(next, ids.bytes(SEED_BYTES), seal));
    return keys.all();
  };
  const load = singleFlight(async (): Promise<SigningKey> => {
    try {
      const due = signingKeyOf(await makeDue(await readStored()), clock.now());
      if (!due) throw new Error('no assertion key signs now, though one was made');
      if (signing?.kid !== due.kid) signing = { ...due, key: ed25519(seal.unseal(due.sealed, due.kid)) };
      confirmedUntilMs = clock.monotonic() + CONFIRMED_FOR_MS;
      return signing;
    } catch (error) {
      if (signing && maySign(signing, clock.now())) return signing;
      throw error;
    }
  });

  return {
    current: () => {
      if (signing && maySign(signing, clock.now()) && clock.monotonic() < confirmedUntilMs) return Promise.resolve(signing);
      return load();
    },
    published: async () => {
      const now = clock.now();
      return (await readStored()).filter((key) => isPublished(key, now)).map(({ kid, publicKey }) => ({ ...publicKey, kid }));
    },
    rotate: async () => {
      await makeDue(await keys.all());
      await keys.deleteDue(clock.now());
    },
  };
};

const ed25519 = (seed: Buffer): KeyObject => createPrivateKey({ key: seed, format: 'raw-private', asymmetricKeyType: 'ed25519' });

const sealedKey = async (lifecycle: KeyLifecycle, seed: Buffer, seal: Seal): Promise<SealedKey> => {
  const { x = '' } = createPublicKey(ed25519(seed)).export({ format: 'jwk' });
  const publicKey: PublicKey = { kty: 'OKP', crv: 'Ed25519', x };
  const kid = await calculateJwkThumbprint(publicKey);
  return { ...lifecycle, kid, publicKey, sealed: seal.seal(seed, kid) };
};
