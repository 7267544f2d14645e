import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import type { Clock } from '@bubbles/kernel/clock.ts';
import type { Ids } from '@bubbles/kernel/ids.ts';
import type { Seal } from '@bubbles/kernel/seal.ts';
import { calculateJwkThumbprint } from 'jose';
import { hasNotEnded, isShownAt, type KeyTimeLine, nextTimeLine, signingKeyOf } from '../../domain/key-time-line.ts';
import type { AssertionKeyStore, AssertionKeys, PublicKey, SealedKey } from '../../ports.ts';

const SEED_BYTES = 32;
/** A store that was restored has other keys: how long one that it lost may go on signing. */
const CONFIRMED_FOR_MS = 10_000;

export interface SigningKey {
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
export function keyRing({ keys, seal, clock, ids }: RingOptions): KeyRing {
  let signing: (SigningKey & KeyTimeLine) | null = null;
  let confirmedUntilMs = 0;
  let loading: Promise<SigningKey> | null = null;

  const makeDue = async (existing: readonly SealedKey[]): Promise<readonly SealedKey[]> => {
    const line = nextTimeLine(existing, clock.now());
    if (!line) return existing;
    await keys.insert(await sealedKey(line, ids.bytes(SEED_BYTES), seal));
    return keys.all();
  };

  const load = async (): Promise<SigningKey> => {
    const due = signingKeyOf(await makeDue(await kept()), clock.now());
    if (!due) throw new Error('no assertion key signs now, though one was made');
    if (signing?.kid !== due.kid) signing = { ...due, key: ed25519(seal.open(due.sealed, due.kid)) };
    confirmedUntilMs = clock.monotonic() + CONFIRMED_FOR_MS;
    return signing;
  };
  /** The keys of the store; one that it does not have must not sign any more, since nobody could verify it. */
  const kept = async (): Promise<readonly SealedKey[]> => {
    const keysNow = await keys.all();
    if (!keysNow.some(({ kid }) => kid === signing?.kid)) signing = null;
    return keysNow;
  };

  return {
    current: () => {
      if (signing && hasNotEnded(signing, clock.now()) && clock.monotonic() < confirmedUntilMs) return Promise.resolve(signing);
      loading ??= load()
        .catch((error: unknown) => {
          if (signing && hasNotEnded(signing, clock.now())) return signing;
          throw error;
        })
        .finally(() => {
          loading = null;
        });
      return loading;
    },
    published: async () => {
      const now = clock.now();
      return (await kept()).filter((key) => isShownAt(key, now)).map(({ kid, publicKey }) => ({ ...publicKey, kid }));
    },
    rotate: async () => {
      await makeDue(await keys.all());
      await keys.dropDue(clock.now());
    },
  };
}

const ed25519 = (seed: Buffer): KeyObject => createPrivateKey({ key: seed, format: 'raw-private', asymmetricKeyType: 'ed25519' });

const sealedKey = async (line: KeyTimeLine, seed: Buffer, seal: Seal): Promise<SealedKey> => {
  const { x = '' } = createPublicKey(ed25519(seed)).export({ format: 'jwk' });
  const publicKey: PublicKey = { kty: 'OKP', crv: 'Ed25519', x };
  const kid = await calculateJwkThumbprint(publicKey);
  return { ...line, kid, publicKey, sealed: seal.close(seed, kid) };
};
