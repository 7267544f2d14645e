import type { Clock } from '@bubbles/shared/clock.ts';
import { signAssertion } from '@bubbles/shared/http/assertion.ts';
import { type Credential, callerOf } from '../../domain/credential.ts';
import { generations } from '../../domain/generations.ts';
import type { Assertions } from '../../ports.ts';
import type { KeyRing } from './key-ring.ts';

/** A third of an assertion's life, so that one which is handed out has two thirds before it. */
const REUSE_MS = 20_000;

interface Issued {
  readonly epoch: number;
  readonly reuseUntilMs: number;
  readonly assertion: Promise<string>;
}

/** Signs once for a credential, service and version of the account, and hands the same assertion out for a while. */
export function assertionIssuer({ ring, clock }: { ring: KeyRing; clock: Clock }): Assertions {
  const issued = generations<Issued>(REUSE_MS);

  const sign = async (credential: Credential, audience: string) =>
    signAssertion({ caller: callerOf(credential), audience, epoch: credential.version }, await ring.current(), clock.now());

  return {
    issue: (credential, audience) => {
      const now = clock.monotonic();
      const name = `${credential.id} ${audience}`;
      const known = issued.get(name, now);
      if (known && known.epoch === credential.version && now < known.reuseUntilMs) return known.assertion;
      const assertion = sign(credential, audience);
      issued.set(name, { epoch: credential.version, reuseUntilMs: now + REUSE_MS, assertion }, now);
      // What could not be signed is asked for again by the next check instead of failing all of them for a while.
      assertion.catch(() => issued.set(name, { epoch: credential.version, reuseUntilMs: now, assertion }, now));
      return assertion;
    },
  };
}
