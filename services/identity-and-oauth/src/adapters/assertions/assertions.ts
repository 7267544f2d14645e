import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { signAssertion } from '@bubbles/auth/assertions.ts';
import type { Clock } from '@bubbles/kernel/clock.ts';
import { singleFlight } from '@bubbles/kernel/concurrency.ts';
import type { Ids } from '@bubbles/kernel/ids.ts';
import type { Seal } from '@bubbles/kernel/seal.ts';
import { createTwoGenerationCache } from '@bubbles/kernel/two-generation-cache.ts';
import { calculateJwkThumbprint } from 'jose';
import { callerOf } from '../../domain/credential.ts';
import { isPublished, type KeyLifecycle, maySign, nextLifecycle, signingKeyOf } from '../../domain/key-lifecycle.ts';
import type { AssertionKeyStore, AssertionKeys, Assertions, SealedKey } from '../../ports.ts';

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
  const publicKey: SealedKey['publicKey'] = { kty: 'OKP', crv: 'Ed25519', x };
  const kid = await calculateJwkThumbprint(publicKey);
  return { ...lifecycle, kid, publicKey, sealed: seal.seal(seed, kid) };
};

/** A third of an assertion's lifetime: one that is handed out has two thirds before it. */
const REUSE_MS = 20_000;

interface Issued {
  readonly accountVersion: number;
  /** Of the key that signed it. */
  readonly kid: string;
  readonly reuseUntilMs: number;
  readonly assertion: Promise<string>;
}

/** Signs once for a credential, service and version of the account, and hands the same assertion out for a while. */
export const createAssertionIssuer = ({ ring, clock }: { ring: KeyRing; clock: Clock }): Assertions => {
  const issued = createTwoGenerationCache<Issued>(REUSE_MS);

  return {
    issue: async (credential, audience) => {
      // The ring checks regularly that the store still has its key: an assertion of another key is not reused.
      const key = await ring.current();
      const now = clock.monotonic();
      const name = `${credential.id} ${audience}`;
      const { accountVersion } = credential;
      const known = issued.get(name, now);
      if (known && known.accountVersion === accountVersion && known.kid === key.kid && now < known.reuseUntilMs) return known.assertion;
      const assertion = signAssertion({ caller: callerOf(credential), audience, accountVersion }, key, clock.now());
      const made: Issued = { accountVersion, kid: key.kid, reuseUntilMs: now + REUSE_MS, assertion };
      issued.set(name, made, now);
      // After a failure the next check signs again, so that one failure does not last for the whole reuse time.
      assertion.catch(() => issued.set(name, { ...made, reuseUntilMs: now }, now));
      return assertion;
    },
  };
};
