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
  /** Of the key that signed it; null while it is being signed. */
  kid: string | null;
  readonly reuseUntilMs: number;
  readonly assertion: Promise<string>;
}

/** Signs once for a credential, service and version of the account, and hands the same assertion out for a while. */
export function assertionIssuer({ ring, clock }: { ring: KeyRing; clock: Clock }): Assertions {
  const issued = generations<Issued>(REUSE_MS);

  const sign = async (credential: Credential, audience: string, signed: (kid: string) => void) => {
    const key = await ring.current();
    const assertion = await signAssertion({ caller: callerOf(credential), audience, epoch: credential.version }, key, clock.now());
    signed(key.kid);
    return assertion;
  };
  const mayReuse = ({ epoch, kid, reuseUntilMs }: Issued, version: number, nowMs: number) =>
    epoch === version && nowMs < reuseUntilMs && (kid === null || ring.signs(kid));

  return {
    issue: (credential, audience) => {
      const now = clock.monotonic();
      const name = `${credential.id} ${audience}`;
      const known = issued.get(name, now);
      if (known && mayReuse(known, credential.version, now)) return known.assertion;
      const assertion = sign(credential, audience, (kid) => {
        made.kid = kid;
      });
      const made: Issued = { epoch: credential.version, kid: null, reuseUntilMs: now + REUSE_MS, assertion };
      issued.set(name, made, now);
      // What could not be signed is asked for again by the next check instead of failing all of them for a while.
      assertion.catch(() => issued.set(name, { ...made, reuseUntilMs: now }, now));
      return assertion;
    },
  };
}
