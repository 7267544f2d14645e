import { signAssertion } from '@bubbles/auth/assertion.ts';
import type { Clock } from '@bubbles/kernel/clock.ts';
import { callerOf } from '../../domain/credential.ts';
import { generations } from '../../domain/generations.ts';
import type { Assertions } from '../../ports.ts';
import type { KeyRing } from './key-ring.ts';

/** A third of an assertion's life, so that one which is handed out has two thirds before it. */
const REUSE_MS = 20_000;

interface Issued {
  readonly epoch: number;
  /** Of the key that signed it. */
  readonly kid: string;
  readonly reuseUntilMs: number;
  readonly assertion: Promise<string>;
}

/** Signs once for a credential, service and version of the account, and hands the same assertion out for a while. */
export function assertionIssuer({ ring, clock }: { ring: KeyRing; clock: Clock }): Assertions {
  const issued = generations<Issued>(REUSE_MS);

  return {
    issue: async (credential, audience) => {
      // The ring looks once in a while whether the store still has its key: what is reused may be signed by none that it has not.
      const key = await ring.current();
      const now = clock.monotonic();
      const name = `${credential.id} ${audience}`;
      const { version: epoch } = credential;
      const known = issued.get(name, now);
      if (known && known.epoch === epoch && known.kid === key.kid && now < known.reuseUntilMs) return known.assertion;
      const assertion = signAssertion({ caller: callerOf(credential), audience, epoch }, key, clock.now());
      const made: Issued = { epoch, kid: key.kid, reuseUntilMs: now + REUSE_MS, assertion };
      issued.set(name, made, now);
      // What could not be signed is asked for again by the next check instead of failing all of them for a while.
      assertion.catch(() => issued.set(name, { ...made, reuseUntilMs: now }, now));
      return assertion;
    },
  };
}
