import { type FakeClock, fakeClock } from '@bubbles/testing/fake-clock.ts';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { aCredential, anAccessToken, anAccount } from '../../test/builders.ts';
import { createRateWindows } from '../adapters/memory/rate-windows.ts';
import type { Credential } from '../domain/credential.ts';
import { hashToken } from '../domain/token.ts';
import type { AccessToken, SignedToken } from '../ports.ts';
import { checkCredentials, checkForServices } from './check-credentials.ts';

const PAT = ['pat', 'oauth'] as const;
const aJwt = 'head.body.sign';
const jwtCheck = { hash: hashToken(aJwt), jwt: aJwt, accepts: PAT, counted: true, countedElsewhere: null };

describe('the check of credentials', () => {
  let clock: FakeClock;
  let tokens: Map<string, Credential>;
  let accessTokens: Map<string, AccessToken>;
  let reads: (readonly string[])[];
  let uses: [string, Date][];
  let verified: number[];
  let ofGrants: Partial<Credential>;
  beforeEach(() => {
    clock = fakeClock();
    tokens = new Map();
    accessTokens = new Map();
    reads = [];
    uses = [];
    verified = [];
    ofGrants = {};
  });

  const ports = () => ({
    clock,
    rateWindows: createRateWindows(),
    accessTokens: {
      verify: (asked: readonly SignedToken[]) => {
        verified.push(asked.length);
        return Promise.resolve(
          new Map(
            asked.flatMap(({ hash, jwt }) => {
              const token = accessTokens.get(jwt);
              return token ? [[hash, token] as const] : [];
            }),
          ),
        );
      },
    },
    noteUse: ({ id }: { readonly id: string }, at: Date) => void uses.push([id, at]),
    credentials: {
      byHash: (hashes: readonly string[]) => {
        reads.push(hashes);
        return Promise.resolve(new Map(hashes.flatMap((hash) => (tokens.has(hash) ? [[hash, tokens.get(hash) ?? aCredential()]] : []))));
      },
      byAccessToken: (asked: ReadonlyMap<string, AccessToken>) => {
        reads.push([...asked.keys()]);
        return Promise.resolve(
          new Map(
            [...asked].map(
              ([hash, { grantId, scopes }]) => [hash, aCredential({ id: grantId, kind: 'oauth', scopes, ...ofGrants })] as const,
            ),
          ),
        );
      },
    },
    assertions: { issue: ({ id }: Credential, audience: string) => Promise.resolve(`${id} for ${audience}`) },
  });
  const give = (token: string, credential: Credential) => tokens.set(hashToken(token), credential);
  const presented = (token: string, accepts: readonly ('pat' | 'oauth' | 'session')[] = PAT) => ({
    hash: hashToken(token),
    jwt: null,
    accepts,
    counted: true,
    countedElsewhere: null,
  });

  it('answers by index, each with its own hash, from one read', async () => {
    give('a', aCredential({ id: 'key-a' }));
    give('b', aCredential({ id: 'key-b' }));
    const check = checkForServices(ports());
    const outcomes = await check(['b', 'x', 'a'].map((token) => ({ ...presented(token), audience: `service of ${token}` })));
    expect(outcomes).toMatchObject([
      { outcome: 'allowed', assertion: 'key-b for service of b' },
      { outcome: 'refused', refusal: 'unauthorized' },
      { outcome: 'allowed', assertion: 'key-a for service of a' },
    ]);
    expect(reads).toEqual([['b', 'x', 'a'].map(hashToken)]);
  });

  it('[RATE-01] 130 checks of one credential in one batch: exactly 120 are allowed', async () => {
    give('a', aCredential());
    const outcomes = await checkCredentials(ports())(Array.from({ length: 130 }, () => presented('a')));
    expect(outcomes.filter(({ outcome }) => outcome === 'allowed')).toHaveLength(120);
    expect(outcomes.at(-1)).toEqual({ outcome: 'limited', budget: { allowed: false, remaining: 0, resetSeconds: 60 } });
  });

  it('[RATE-04] a request that is counted elsewhere takes nothing of the window, and a full window does not refuse it', async () => {
    give('a', aCredential());
    const admit = checkCredentials(ports());
    const uncounted = { ...presented('a'), counted: false };
    expect(await admit([presented('a'), uncounted])).toMatchObject([{ budget: { remaining: 119 } }, { budget: { remaining: 119 } }]);
    await admit(Array.from({ length: 130 }, () => presented('a')));
    expect(await admit([uncounted])).toMatchObject([{ outcome: 'allowed', budget: { remaining: 0, resetSeconds: 60 } }]);
  });

  it('[RATE-04] what is refused with 401 is not counted', async () => {
    give('a', aCredential());
    const admit = checkCredentials(ports());
    await admit(Array.from({ length: 200 }, () => presented('a', ['session'])));
    expect(await admit([presented('a')])).toMatchObject([{ outcome: 'allowed', budget: { remaining: 119 } }]);
  });

  it('[KEY-09] notes the use of what is admitted and of nothing else', async () => {
    give('key', aCredential({ id: 'key-1' }));
    give('session', aCredential({ id: 'session-1', kind: 'session' }));
    give('revoked', aCredential({ id: 'key-2', status: 'revoked' }));
    await checkCredentials(ports())(['key', 'session', 'revoked'].map((token) => presented(token)));
    expect(uses).toEqual([['key-1', clock.now()]]);
  });

  it('[AUTH-01] a JWT that no issuer of ours signed is unauthorized, and is not looked up as a token', async () => {
    expect(await checkCredentials(ports())([jwtCheck])).toEqual([{ outcome: 'refused', refusal: 'unauthorized' }]);
    expect(reads).toEqual([[]]);
  });

  it('[RATE-04] an access token is its grant, with the scopes it was granted; all of a batch are verified and looked up together', async () => {
    give('a', aCredential());
    const other = 'head.other.sign';
    for (const [jwt, grantId] of [
      [aJwt, 'grant-1'],
      [other, 'grant-2'],
    ] as const)
      accessTokens.set(jwt, anAccessToken({ grantId, scopes: ['bubbles:read'] }));
    const results = await checkCredentials(ports())([jwtCheck, presented('a'), { ...jwtCheck, hash: hashToken(other), jwt: other }]);
    expect(results).toMatchObject([
      { outcome: 'allowed', credential: { id: 'grant-1', kind: 'oauth', scopes: ['bubbles:read'] } },
      { outcome: 'allowed', credential: { id: 'key-1', kind: 'pat' } },
      { outcome: 'allowed', credential: { id: 'grant-2', kind: 'oauth' } },
    ]);
    expect(verified).toEqual([2]);
    expect(reads).toEqual([[hashToken('a')], [hashToken(aJwt), hashToken(other)]]);
  });

  it('[AUTH-05] the account of an access token is told before its expiry', async () => {
    accessTokens.set(aJwt, anAccessToken());
    ofGrants = { account: anAccount({ state: 'disabled' }), status: 'ended' };
    expect(await checkCredentials(ports())([jwtCheck])).toEqual([{ outcome: 'refused', refusal: 'account_deleted' }]);
  });
});
