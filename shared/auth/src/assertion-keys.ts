import { createPublicKey, type KeyObject } from 'node:crypto';
import type { Clock } from '@bubbles/kernel/clock.ts';
import { DomainError } from '@bubbles/kernel/errors.ts';
import { z } from 'zod';

/** `GET /internal/v1/assertion-keys`, every service → identity: the public halves of the keys that sign assertions, at least ten minutes before they do. */
export const AssertionKeySet = z.object({
  keys: z.array(z.object({ kty: z.literal('OKP'), crv: z.literal('Ed25519'), x: z.string(), kid: z.string() })),
});
export type AssertionKeySet = z.infer<typeof AssertionKeySet>;

export interface AssertionKeys {
  /** Null when identity has no such key; rejects with `DomainError('unavailable')` when it cannot be asked. */
  find(kid: string): Promise<KeyObject | null>;
}

export interface AssertionKeysOptions {
  readonly fetchKeys: () => Promise<AssertionKeySet>;
  readonly clock: Clock;
}

interface Withdrawn {
  readonly key: KeyObject;
  readonly until: number;
}

const MAX_AGE_MS = 600_000;
/** An unknown kid asks at most so often, whoever makes it up. */
const COOLDOWN_MS = 10_000;
const COOLDOWN_AFTER_FAILURE_MS = 1000;

/** Identity's keys, kept, and asked for again when one is unknown or they have grown old; old ones serve on while identity is away. */
export const assertionKeys = ({ fetchKeys, clock }: AssertionKeysOptions): AssertionKeys => {
  let keys: ReadonlyMap<string, KeyObject> | null = null;
  /** No longer shown, and believed as long as they would have been: a replica of identity may not have noticed yet. */
  let withdrawn: ReadonlyMap<string, Withdrawn> = new Map();
  let askAfter = Number.NEGATIVE_INFINITY;
  let freshUntil = Number.NEGATIVE_INFINITY;
  let asking: Promise<void> | null = null;

  const ask = async () => {
    askAfter = clock.monotonic() + COOLDOWN_AFTER_FAILURE_MS;
    const set = await fetchKeys();
    const shown = new Map(set.keys.map((jwk) => [jwk.kid, createPublicKey({ key: jwk, format: 'jwk' })]));
    const before = [...withdrawn, ...[...(keys ?? [])].map(([kid, key]): [string, Withdrawn] => [kid, { key, until: freshUntil }])];
    withdrawn = new Map(before.filter(([kid, { until }]) => !shown.has(kid) && clock.monotonic() < until));
    keys = shown;
    askAfter = clock.monotonic() + COOLDOWN_MS;
    freshUntil = clock.monotonic() + MAX_AGE_MS;
  };
  const fresh = (key: KeyObject | null = null, until = 0) => (clock.monotonic() < until ? key : null);
  const askOnce = async () => {
    asking ??= ask().finally(() => {
      asking = null;
    });
    await asking;
  };

  return {
    find: async (kid) => {
      const known = keys?.get(kid) ?? null;
      const believed = fresh(known, freshUntil) ?? fresh(withdrawn.get(kid)?.key, withdrawn.get(kid)?.until);
      if (believed !== null) return believed;
      try {
        if (asking !== null || clock.monotonic() >= askAfter) await askOnce();
      } catch (cause) {
        if (known !== null) return known;
        throw new DomainError('unavailable', 'Signing keys could not be fetched.', { cause });
      }
      if (keys === null) throw new DomainError('unavailable', 'Signing keys could not be fetched.');
      return keys.get(kid) ?? null;
    },
  };
};
