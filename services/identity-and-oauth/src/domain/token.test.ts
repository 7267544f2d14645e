import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { AT, anAccount, aSession } from '../../test/builders.ts';
import { hashToken, issueKey, issueSession, sessionIsLive, TOKEN_BYTES } from './token.ts';

const random = randomBytes(TOKEN_BYTES);

describe('tokens', () => {
  it('[AUTH-03] a key is the prefix and all its random bytes in base64url', () => {
    const { token } = issueKey('ci', { id: 'key-1', random, at: AT });
    expect(token).toBe(`svc_pat_${random.toString('base64url')}`);
    expect(TOKEN_BYTES).toBeGreaterThanOrEqual(32);
  });

  it('[KEY-03] the preview is the prefix, four characters and an ellipsis', () => {
    const { key, token } = issueKey('ci', { id: 'key-1', random, at: AT });
    expect(key.preview).toBe(`${token.slice(0, 12)}…`);
  });

  it('[AUTH-08] [KEY-02] of a token only its SHA-256 is kept', () => {
    expect(hashToken('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
    const { key, token } = issueKey('ci', { id: 'key-1', random, at: AT });
    expect(JSON.stringify(key)).not.toContain(token);
    expect(key).toEqual({ id: 'key-1', hash: hashToken(token), name: 'ci', preview: key.preview, createdAt: AT });
  });

  it('a session token never has the form of a JWT', () => {
    expect(issueSession(anAccount(), { id: 'session-1', random, at: AT }).token).toMatch(/^svc_session_[\w-]{43}$/);
  });

  it('[AUTH-10] a session lives for 14 days and not at their end, and ends at sign-out', () => {
    const { session } = issueSession(anAccount(), { id: 'session-1', random, at: AT });
    const end = new Date('2026-03-15T10:00:00.000Z');
    expect(session.expiresAt).toEqual(end);
    expect(sessionIsLive(session, anAccount(), new Date(end.getTime() - 1))).toBe(true);
    expect(sessionIsLive(session, anAccount(), end)).toBe(false);
    expect(sessionIsLive(aSession({ endedAt: AT }), anAccount(), AT)).toBe(false);
  });

  it('[AUTH-10] a session of an earlier life of its account has ended; one from before lives were kept is of the first', () => {
    expect([1, 2].map((life) => sessionIsLive(aSession(), anAccount({ life }), AT))).toEqual([true, false]);
    const { session } = issueSession(anAccount({ life: 2 }), { id: 'session-1', random, at: AT });
    expect([1, 2, 3].map((life) => sessionIsLive(session, anAccount({ life }), AT))).toEqual([false, true, false]);
  });
});
