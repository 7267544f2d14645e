import type { Clock } from '@bubbles/kernel/clock.ts';
import { type CheckResult, type Credential, type CredentialCheck, refusalOf } from '../domain/credential.ts';
import type { AccessTokenVerifier, Assertions, CredentialStore, KeyUses, RateWindows } from '../ports.ts';

interface CheckPorts {
  readonly credentials: CredentialStore;
  readonly accessTokens: AccessTokenVerifier;
  readonly rateWindows: RateWindows;
  readonly keyUses: Pick<KeyUses, 'note'>;
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
  ({ assertions, ...ports }: CheckPorts & { readonly assertions: Assertions }) =>
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
const decider = ({ rateWindows, keyUses, clock }: CheckPorts, found: ReadonlyMap<string, Credential>) => {
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
    if (credential.kind === 'pat') keyUses.note(credential.id, now);
    return { outcome: 'allowed', credential, budget };
  };
};

/** By the hash of the token: opaque ones in one read, those that prove themselves beside it. */
const findCredentials = async (ports: CheckPorts, checks: readonly CredentialCheck[]): Promise<ReadonlyMap<string, Credential>> => {
  const opaque: string[] = [];
  const signed: Promise<readonly [hash: string, Credential | null]>[] = [];
  for (const { hash, jwt } of checks) {
    if (jwt === null) opaque.push(hash);
    else signed.push(findByJwt(ports, jwt).then((credential) => [hash, credential]));
  }
  const byHash = opaque.length > 0 ? ports.credentials.byHash(opaque) : new Map<string, Credential>();
  if (signed.length === 0) return byHash;
  const [known, ...ofJwts] = await Promise.all([byHash, ...signed]);
  const found = new Map(known);
  for (const [hash, credential] of ofJwts) if (credential) found.set(hash, credential);
  return found;
};

const findByJwt = async ({ accessTokens, credentials }: CheckPorts, jwt: string): Promise<Credential | null> => {
  const token = await accessTokens.verify(jwt);
  if (!token) return null;
  const { accountId, ...credential } = token;
  const owner = (await credentials.owners([accountId])).get(accountId);
  return owner ? { ...owner, ...credential } : null;
};
