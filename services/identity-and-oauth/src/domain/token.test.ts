import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { AT, aSession } from '../../test/builders.ts';
import { hashToken, keyPreview, keyToken, sessionIsLive, sessionToken, TOKEN_BYTES } from './token.ts';

describe('tokens', () => {
  it('[AUTH-03] a key is the prefix and all its random bytes in base64url', () => {
    const random = randomBytes(TOKEN_BYTES);
    expect(keyToken(random)).toBe(`svc_pat_${random.toString('base64url')}`);
    expect(TOKEN_BYTES).toBeGreaterThanOrEqual(32);
  });

  it('[KEY-03] the preview is the prefix, four characters and an ellipsis', () => {
    expect(keyPreview('svc_pat_AbCdEfGhIj')).toBe('svc_pat_AbCd…');
  });

  it('[AUTH-08] the hash is the lower-case hex SHA-256', () => {
    expect(hashToken('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  });

  it('a session token never has the form of a JWT', () => {
    expect(sessionToken(randomBytes(TOKEN_BYTES))).toMatch(/^svc_session_[\w-]{43}$/);
  });

  it('[AUTH-10] a session lives until its expiry and not at it, and ends at sign-out', () => {
    const session = aSession({ expiresAt: AT });
    expect(sessionIsLive(session, new Date(AT.getTime() - 1))).toBe(true);
    expect(sessionIsLive(session, AT)).toBe(false);
    expect(sessionIsLive({ ...session, endedAt: AT }, new Date(AT.getTime() - 1))).toBe(false);
  });
});
