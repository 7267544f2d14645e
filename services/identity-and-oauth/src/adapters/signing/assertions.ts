import { signAssertion } from '@bubbles/auth/assertions.ts';
import type { Caller } from '@bubbles/contracts/access.ts';
import type { Clock } from '@bubbles/kernel/clock.ts';
import { createTwoGenerationCache } from '@bubbles/kernel/two-generation-cache.ts';
import { lifeOf } from '../../domain/account.ts';
import { callerOf } from '../../domain/credential.ts';
import type { Assertions } from '../../ports.ts';
import type { KeyRing } from './key-ring.ts';

/** A third of an assertion's lifetime: one that is handed out has two thirds before it. */
const REUSE_MS = 20_000;

interface Issued {
  readonly accountVersion: number;
  /** Id of the signing key. */
  readonly kid: string;
  /** By the clock that its times are of; null for one that could not be signed. */
  readonly signedAtMs: number | null;
  readonly assertion: Promise<string>;
}

/** Services refuse one from the future or the past, which it is after the clock was set. */
const isReusable = ({ signedAtMs }: Issued, now: Date): boolean => {
  const ageMs = now.getTime() - (signedAtMs ?? Number.NEGATIVE_INFINITY);
  return ageMs >= 0 && ageMs < REUSE_MS;
};

/** What an assertion says; the caller is put together only when it is signed. */
interface Said {
  readonly caller: () => Caller;
  readonly accountVersion: number;
  readonly audience: string;
}

/** Signs once for a credential with its scopes, service and version of the account, and hands the same assertion out for a while. */
export const createAssertionIssuer = ({ ring, clock }: { ring: Pick<KeyRing<unknown>, 'current'>; clock: Clock }): Assertions => {
  const issued = createTwoGenerationCache<Issued>(REUSE_MS);

  const issue = async (name: string, { caller, accountVersion, audience }: Said): Promise<string> => {
    // The ring checks regularly that the store still has its key: an assertion of another key is not reused.
    const key = await ring.current();
    const [cachedAt, now] = [clock.monotonic(), clock.now()];
    const known = issued.get(name, cachedAt);
    if (known && known.accountVersion === accountVersion && known.kid === key.kid && isReusable(known, now)) return known.assertion;
    const assertion = signAssertion({ caller: caller(), audience, accountVersion }, key, now);
    const made: Issued = { accountVersion, kid: key.kid, signedAtMs: now.getTime(), assertion };
    issued.set(name, made, cachedAt);
    // After a failure the next check signs again, so that one failure does not last for the whole reuse time.
    assertion.catch(() => issued.set(name, { ...made, signedAtMs: null }, cachedAt));
    return assertion;
  };

  return {
    issue: (credential, audience) => {
      const { id, scopes, accountVersion } = credential;
      // Access tokens of one grant may have different scopes.
      return issue(`${id} ${audience} ${scopes.join(' ')}`, { caller: () => callerOf(credential), accountVersion, audience });
    },
    issueForPage: ({ sessionId, account, accountVersion }, { audience, scopes }) => {
      const caller = (): Caller => ({ userId: account.id, life: lifeOf(account), credentialId: sessionId, kind: 'app', scopes });
      return issue(`app ${sessionId} ${audience} ${scopes.join(' ')}`, { caller, accountVersion, audience });
    },
  };
};
