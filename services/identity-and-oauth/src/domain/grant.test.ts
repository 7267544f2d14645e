import { describe, expect, it } from '@jest/globals';
import { AT, aGrant, anAccount } from '../../test/builders.ts';
import { accessTokenEnd, grantIsLive, issueRefreshToken, namesOtherResource, provesChallenge } from './grant.ts';

const after = (ms: number) => new Date(AT.getTime() + ms);

describe('a grant', () => {
  it('lives until its end, in one life of its account', () => {
    const grant = aGrant({ expiresAt: after(10), life: 2 });
    const owner = anAccount({ life: 2 });
    expect([grantIsLive(grant, owner, after(9)), grantIsLive(grant, owner, after(10))]).toEqual([true, false]);
    expect(grantIsLive(grant, anAccount({ life: 3 }), AT)).toBe(false);
    expect(grantIsLive(grant, anAccount({ id: 'other', life: 2 }), AT)).toBe(false);
  });

  it('outlives its tokens', () => {
    const grant = aGrant({ expiresAt: after(10) });
    const seed = { random: Buffer.alloc(32), at: AT, spent: null };
    const refreshEnd = (refreshTokenMs: number) => issueRefreshToken(grant, { ...seed, refreshTokenMs }).stored.expiresAt;
    expect([refreshEnd(9), refreshEnd(11)]).toEqual([after(9), after(10)]);
    const accessEnd = (accessTokenMs: number) => accessTokenEnd(grant, AT, { accessTokenMs });
    expect([accessEnd(9), accessEnd(11)]).toEqual([after(9), after(10)]);
  });
});

describe('a refresh token', () => {
  it('is kept as long as it or what was spent for it could come again', () => {
    const grant = aGrant({ expiresAt: after(100) });
    const kept = (expiresAt: Date) =>
      issueRefreshToken(grant, { random: Buffer.alloc(32), at: AT, refreshTokenMs: 50, spent: { hash: 'spent', expiresAt } }).stored;
    expect(kept(after(49))).toMatchObject({ issuedFor: 'spent', expiresAt: after(50), keepUntil: after(50) });
    expect(kept(after(51))).toMatchObject({ expiresAt: after(50), keepUntil: after(51) });
  });
});

describe('a code challenge', () => {
  const verifier = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
  const challenge = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';

  it('is proved by its verifier alone (RFC 7636, appendix B)', () => {
    expect(provesChallenge(verifier, challenge)).toBe(true);
    for (const other of ['', challenge, verifier.toLowerCase(), `${verifier}=`, `${verifier}\n`, verifier.repeat(3)])
      expect(provesChallenge(other, challenge)).toBe(false);
  });
});

describe('[case 39] a resource', () => {
  const api = 'https://api.test';

  it.each([
    [[], false],
    [[''], false],
    [[api, `${api}/`, `${api}/v1`, `${api}/mcp`], false],
    [[api, 'https://other.test'], true],
    [[`${api}.evil.test`], true],
    [[`${api}/v1/`], true],
    [['http://api.test'], true],
  ])('%j is another one: %s', (resources, isOther) => {
    expect(namesOtherResource(resources, api)).toBe(isOther);
  });
});
