import type { AccessTokenVerifier } from '../../ports.ts';

/** Without an issuer no access token was ever signed for this API: every JWT is an unknown one. */
export const noIssuer: AccessTokenVerifier = { verify: () => Promise.resolve(null) };
