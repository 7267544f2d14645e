import type { Clock } from '@bubbles/kernel/clock.ts';
import { type CheckResult, type Credential, type CredentialCheck, refusalOf } from '../domain/credential.ts';
import type { AccessTokenVerifier, Assertions, CredentialStore, NoteUse, RateWindows, SignedToken } from '../ports.ts';

interface CheckPorts {
  readonly credentials: CredentialStore;
  readonly accessTokens: AccessTokenVerifier;
  readonly rateWindows: RateWindows;
  readonly noteUse: NoteUse;
  readonly clock: Clock;
}

/** For identity's own routes; answers by index. */
export const checkCredentials =
  (ports: CheckPorts) =>
  async (checks: readonly CredentialCheck[]): Promise<CheckResult[]> => {
    const decide = decider(ports, await findCredentials(ports, checks));
    return checks.map(decide);
  };

interface ServiceCheck extends CredentialCheck {
  /** The service that the assertion is for. */
  readonly audience: string;
}

/** For other services: each caller that is allowed comes with an assertion; answers by index. */
export const checkForServices =
  ({ assertions, ...ports }: CheckPorts & { readonly assertions: Pick<Assertions, 'issue'> }) =>
  async (checks: readonly ServiceCheck[]): Promise<CheckResult<{ readonly assertion: string }>[]> => {
    const decide = decider(ports, await findCredentials(ports, checks));
    return Promise.all(
      checks.map(async (check) => {
        const result = decide(check);
        return result.outcome === 'allowed' ? { ...result, assertion: await assertions.issue(result.credential, check.audience) } : result;
      }),
    );
  };

/** The one rule of who may call, as of now. */
const decider = ({ rateWindows, noteUse, clock }: CheckPorts, found: ReadonlyMap<string, Credential>) => {
  const nowMs = clock.monotonic();
  const now = clock.now();
  return (check: CredentialCheck): CheckResult => {
    const credential = found.get(check.hash) ?? null;
    const refusal = refusalOf(credential, check.accepts);
    if (!credential || refusal) return { outcome: 'refused', refusal: refusal ?? 'unauthorized' };
    const window = rateWindows.of(credential.id, nowMs);
    if (check.countedElsewhere) {
      const { requests, firstMsAgo, lastMsAgo } = check.countedElsewhere;
      window.raise({ requests, firstMs: nowMs - firstMsAgo, lastMs: nowMs - lastMsAgo }, nowMs);
    }
    const budget = check.counted ? window.take(nowMs) : window.peek(nowMs);
    if (!budget.allowed) return { outcome: 'limited', budget };
    noteUse(credential, now);
    return { outcome: 'allowed', credential, budget };
  };
};

/** By the hash of the token: opaque ones in one read, those that prove themselves beside it. */
const findCredentials = async (
  { credentials, accessTokens }: CheckPorts,
  checks: readonly CredentialCheck[],
): Promise<ReadonlyMap<string, Credential>> => {
  const opaque: string[] = [];
  const signed: SignedToken[] = [];
  for (const { hash, jwt } of checks) {
    if (jwt === null) opaque.push(hash);
    else signed.push({ hash, jwt });
  }
  if (signed.length === 0) return credentials.byHash(opaque);
  const ofAccessTokens = accessTokens.verify(signed).then((tokens) => credentials.byAccessToken(tokens));
  if (opaque.length === 0) return ofAccessTokens;
  const [byHash, byAccessToken] = await Promise.all([credentials.byHash(opaque), ofAccessTokens]);
  return new Map([...byHash, ...byAccessToken]);
};
