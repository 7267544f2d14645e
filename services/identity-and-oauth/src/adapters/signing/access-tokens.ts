import type { Ids } from '@bubbles/kernel/ids.ts';
import { SignJWT } from 'jose';
import type { AccessTokenSigner } from '../../ports.ts';
import type { KeyRing } from './key-ring.ts';

const ALGORITHM = 'ES256';
const TYPE = 'at+jwt';

interface SignerOptions {
  readonly ring: Pick<KeyRing<unknown>, 'current'>;
  readonly issuer: string;
  readonly ids: Ids;
}

/** Access tokens as RFC 9068 has them, for this API alone. */
export const createAccessTokenSigner = ({ ring, issuer, ids }: SignerOptions): AccessTokenSigner => ({
  sign: async ({ grant, scopes, at, expiresAt }) => {
    const { kid, key } = await ring.current();
    return new SignJWT({ client_id: grant.clientId, scope: scopes.join(' '), gid: grant.id })
      .setProtectedHeader({ alg: ALGORITHM, typ: TYPE, kid })
      .setIssuer(issuer)
      .setAudience(issuer)
      .setSubject(grant.accountId)
      .setJti(ids.uuid())
      .setIssuedAt(secondsOf(at))
      .setExpirationTime(secondsOf(expiresAt))
      .sign(key);
  },
});

const secondsOf = (date: Date): number => Math.floor(date.getTime() / 1000);
