import type { CredentialKind, CredentialRefusal } from '@bubbles/contracts/access.ts';
import type { Clock } from '@bubbles/kernel/clock.ts';
import { type Credential, refusalOf } from '../domain/credential.ts';
import type { Budget, RateWindows } from '../domain/rate-window.ts';
import type { AccessTokenVerifier, Assertions, CredentialStore, KeyUses } from '../ports.ts';

/** A token as a request presents it. */
export interface Presented {
  /** Lower-case hex SHA-256 of the token. */
  readonly hash: string;
  /** The token itself when it has the form of a JWT. */
  readonly jwt: string | null;
  /** The kinds that the route takes. */
  readonly accepts: readonly CredentialKind[];
  /** False: of the rate window nothing is taken, and a full one does not refuse. */
  readonly counted: boolean;
  /** What another replica had counted of it; null when nothing is known of that. */
  readonly elsewhere: CountedElsewhere | null;
}

/** How many requests, and how long ago the first and the last of them. */
export interface CountedElsewhere {
  readonly requests: number;
  readonly firstMsAgo: number;
  readonly lastMsAgo: number;
}

interface Admitted {
  readonly outcome: 'allowed';
  readonly credential: Credential;
  readonly budget: Budget;
}
type NotAdmitted =
  | { readonly outcome: 'limited'; readonly budget: Budget }
  | { readonly outcome: 'refused'; readonly refusal: CredentialRefusal };
export type Admission = Admitted | NotAdmitted;

interface AdmissionPorts {
  readonly credentials: CredentialStore;
  readonly accessTokens: AccessTokenVerifier;
  readonly windows: RateWindows;
  readonly keyUses: Pick<KeyUses, 'note'>;
  readonly clock: Clock;
}

const owned = async (ports: AdmissionPorts, jwt: string): Promise<Credential | null> => {
  const token = await ports.accessTokens.verify(jwt);
  if (!token) return null;
  const owner = (await ports.credentials.owners([token.accountId])).get(token.accountId);
  return owner ? { ...owner, id: token.grantId, kind: 'oauth', scopes: token.scopes, standing: token.standing } : null;
};

/** By index: the hashes in one read; null for a token that nobody has. */
const credentialsOf = async (ports: AdmissionPorts, presented: readonly Presented[]): Promise<(Credential | null)[]> => {
  const hashes = presented.flatMap(({ hash, jwt }) => (jwt === null ? [hash] : []));
  const byHash = hashes.length > 0 ? ports.credentials.byHash(hashes) : Promise.resolve(new Map<string, Credential>());
  const [known, byJwt] = await Promise.all([byHash, Promise.all(presented.map(({ jwt }) => (jwt === null ? null : owned(ports, jwt))))]);
  return presented.map(({ hash, jwt }, i) => (jwt === null ? known.get(hash) : byJwt[i]) ?? null);
};

/** The one rule of admission, for identity's own routes and for those of other services; answers by index. */
export const admitCredentials =
  (ports: AdmissionPorts) =>
  async (presented: readonly Presented[]): Promise<Admission[]> => {
    const credentials = await credentialsOf(ports, presented);
    const nowMs = ports.clock.monotonic();
    const at = ports.clock.now();
    const takeOver = (id: string, { requests, firstMsAgo, lastMsAgo }: CountedElsewhere) =>
      ports.windows.raise(id, { requests, firstMs: nowMs - firstMsAgo, lastMs: nowMs - lastMsAgo }, nowMs);
    const spend = (id: string, { counted, elsewhere }: Presented) => {
      if (elsewhere) takeOver(id, elsewhere);
      return counted ? ports.windows.take(id, nowMs) : ports.windows.peek(id, nowMs);
    };
    return presented.map((one, i) => {
      const credential = credentials[i] ?? null;
      const refusal = refusalOf(credential, one.accepts);
      if (!credential || refusal) return { outcome: 'refused', refusal: refusal ?? 'unauthorized' };
      const budget = spend(credential.id, one);
      if (!budget.allowed) return { outcome: 'limited', budget };
      if (credential.kind === 'pat') ports.keyUses.note(credential.id, at);
      return { outcome: 'allowed', credential, budget };
    });
  };

export interface Check extends Presented {
  /** The service that the assertion is for. */
  readonly audience: string;
}

export type CheckOutcome = (Admitted & { readonly assertion: string }) | NotAdmitted;

/** Admits for other services, each with a statement of who calls; answers by index. */
export const checkCredentials = (ports: AdmissionPorts & { readonly assertions: Assertions }) => {
  const admit = admitCredentials(ports);
  return async (checks: readonly Check[]): Promise<CheckOutcome[]> => {
    const admissions = await admit(checks);
    const audienceOf = (i: number) => checks[i]?.audience ?? '';
    return Promise.all(
      admissions.map(async (admission, i) =>
        admission.outcome === 'allowed'
          ? { ...admission, assertion: await ports.assertions.issue(admission.credential, audienceOf(i)) }
          : admission,
      ),
    );
  };
};
