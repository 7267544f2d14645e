import type { Clock } from '@bubbles/shared/clock.ts';
import { type Credential, type CredentialKind, type Refusal, refusalOf } from '../domain/credential.ts';
import type { Budget, RateWindows } from '../domain/rate-window.ts';
import type { AccessTokenVerifier, CredentialStore, KeyUses } from '../ports.ts';

/** A token as a request presents it. */
export interface Presented {
  /** Lower-case hex SHA-256 of the token. */
  readonly hash: string;
  /** The token itself when it has the form of a JWT. */
  readonly jwt: string | null;
  /** The kinds that the route takes. */
  readonly accepts: readonly CredentialKind[];
}

export type Admission =
  | { readonly outcome: 'allowed'; readonly credential: Credential; readonly budget: Budget }
  | { readonly outcome: 'limited'; readonly budget: Budget }
  | { readonly outcome: 'refused'; readonly refusal: Refusal };

export interface AdmissionPorts {
  readonly credentials: CredentialStore;
  readonly accessTokens: AccessTokenVerifier;
  readonly windows: RateWindows;
  readonly keyUses: KeyUses;
  readonly clock: Clock;
}

/** The one rule of admission, for requests of other services and of identity alike; answers by index. */
export const admission = (ports: AdmissionPorts) => {
  const oauthCredentials = async (jwts: readonly string[]): Promise<ReadonlyMap<string, Credential>> => {
    const tokens = await Promise.all(jwts.map((jwt) => ports.accessTokens.verify(jwt)));
    const known = tokens.flatMap((token, i) => (token ? [{ token, jwt: jwts[i] ?? '' }] : []));
    if (known.length === 0) return new Map();
    const owners = await ports.credentials.owners(known.map(({ token }) => token.accountId));
    return new Map(
      known.flatMap(({ token, jwt }) => {
        const owner = owners.get(token.accountId);
        return owner ? [[jwt, { ...owner, id: token.grantId, kind: 'oauth', scopes: token.scopes, standing: token.standing }]] : [];
      }),
    );
  };

  const admit = (credential: Credential | null, accepts: readonly CredentialKind[], time: { nowMs: number; at: Date }): Admission => {
    const refusal = refusalOf(credential, accepts);
    if (refusal !== null || !credential) return { outcome: 'refused', refusal: refusal ?? 'unauthorized' };
    const budget = ports.windows.take(credential.id, time.nowMs);
    if (!budget.allowed) return { outcome: 'limited', budget };
    if (credential.kind === 'pat') ports.keyUses.note(credential.id, time.at);
    return { outcome: 'allowed', credential, budget };
  };

  return async (presented: readonly Presented[]): Promise<Admission[]> => {
    const hashes = presented.flatMap(({ hash, jwt }) => (jwt === null ? [hash] : []));
    const jwts = presented.flatMap(({ jwt }) => (jwt === null ? [] : [jwt]));
    const [byHash, byJwt] = await Promise.all([ports.credentials.byHash(hashes), oauthCredentials(jwts)]);
    const time = { nowMs: ports.clock.monotonic(), at: ports.clock.now() };
    return presented.map(({ hash, jwt, accepts }) => admit((jwt === null ? byHash.get(hash) : byJwt.get(jwt)) ?? null, accepts, time));
  };
};
export type Admit = ReturnType<typeof admission>;
