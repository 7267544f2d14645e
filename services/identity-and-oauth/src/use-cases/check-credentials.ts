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

/** The one rule of who may call, for identity's own routes and for those of other services; answers by index. */
export const checkCredentials =
  (ports: CheckPorts) =>
  async (checks: readonly CredentialCheck[]): Promise<CheckResult[]> => {
    const credentials = await findCredentials(ports, checks);
    return checks.map((check, i) => {
      const credential = credentials[i] ?? null;
      const refusal = refusalOf(credential, check.accepts);
      if (!credential || refusal) return { outcome: 'refused', refusal: refusal ?? 'unauthorized' };
      const budget = countRequest(ports, credential.id, check);
      if (!budget.allowed) return { outcome: 'limited', budget };
      if (credential.kind === 'pat') ports.keyUses.note(credential.id, ports.clock.now());
      return { outcome: 'allowed', credential, budget };
    });
  };

interface ServiceCheck extends CredentialCheck {
  /** The service that the assertion is for. */
  readonly audience: string;
}

/** For other services: each caller that is allowed comes with an assertion; answers by index. */
export const checkForServices = ({ assertions, ...ports }: CheckPorts & { readonly assertions: Assertions }) => {
  const checkAll = checkCredentials(ports);
  return async (checks: readonly ServiceCheck[]): Promise<CheckResult<{ readonly assertion: string }>[]> => {
    const results = await checkAll(checks);
    const audienceOf = (i: number) => checks[i]?.audience ?? '';
    return Promise.all(
      results.map(async (result, i) =>
        result.outcome === 'allowed' ? { ...result, assertion: await assertions.issue(result.credential, audienceOf(i)) } : result,
      ),
    );
  };
};

const countRequest = ({ rateWindows, clock }: CheckPorts, id: string, { counted, countedElsewhere }: CredentialCheck) => {
  const nowMs = clock.monotonic();
  if (countedElsewhere) {
    const { requests, firstMsAgo, lastMsAgo } = countedElsewhere;
    rateWindows.raise(id, { requests, firstMs: nowMs - firstMsAgo, lastMs: nowMs - lastMsAgo }, nowMs);
  }
  return counted ? rateWindows.take(id, nowMs) : rateWindows.peek(id, nowMs);
};

/** By index: the hashes in one read; null for a token that was never issued. */
const findCredentials = async (ports: CheckPorts, checks: readonly CredentialCheck[]): Promise<(Credential | null)[]> => {
  const hashes = checks.flatMap(({ hash, jwt }) => (jwt === null ? [hash] : []));
  const byHash = hashes.length > 0 ? ports.credentials.byHash(hashes) : Promise.resolve(new Map<string, Credential>());
  const byJwt = Promise.all(checks.map(({ jwt }) => (jwt === null ? null : findByJwt(ports, jwt))));
  const [known, ofJwts] = await Promise.all([byHash, byJwt]);
  return checks.map(({ hash, jwt }, i) => (jwt === null ? known.get(hash) : ofJwts[i]) ?? null);
};

const findByJwt = async ({ accessTokens, credentials }: CheckPorts, jwt: string): Promise<Credential | null> => {
  const token = await accessTokens.verify(jwt);
  if (!token) return null;
  const { accountId, ...credential } = token;
  const owner = (await credentials.owners([accountId])).get(accountId);
  return owner ? { ...owner, ...credential } : null;
};
