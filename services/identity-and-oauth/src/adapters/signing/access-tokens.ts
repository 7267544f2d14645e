import type { Ids } from '@bubbles/kernel/ids.ts';
import { SignJWT } from 'jose';
import type { AccessTokenSigner } from '../../ports.ts';
import type { KeyRing } from './key-ring.ts';

const ALGORITHM = 'ES256';
const TYPE = 'at+jwt';

interface SignerOptions {
  readonly ring: Pick<KeyRing<unknown>, 'current'>;
  readonly issuer: string;
  readonly lifeMs: number;
  readonly ids: Ids;
}

/** Access tokens as RFC 9068 has them, for this API alone. */
export const createAccessTokenSigner = ({ ring, issuer, lifeMs, ids }: SignerOptions): AccessTokenSigner => ({
  sign: async ({ grant, scopes, at }) => {
    const { kid, key } = await ring.current();
    const issuedAt = Math.floor(at.getTime() / 1000);
    return new SignJWT({ client_id: grant.clientId, scope: scopes.join(' '), gid: grant.id })
      .setProtectedHeader({ alg: ALGORITHM, typ: TYPE, kid })
      .setIssuer(issuer)
      .setAudience(issuer)
      .setSubject(grant.accountId)
      .setJti(ids.uuid())
      .setIssuedAt(issuedAt)
      .setExpirationTime(issuedAt + Math.floor(lifeMs / 1000))
      .sign(key);
  },
});
