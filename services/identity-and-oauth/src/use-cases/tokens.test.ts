import { systemIds } from '@bubbles/kernel/ids.ts';
import { indexedCollections } from '@bubbles/store/indexed-collections.ts';
import { fakeClock } from '@bubbles/testing/fake-clock.ts';
import { memoryDatabase } from '@bubbles/testing/memory-database.ts';
import { describe, expect, it } from '@jest/globals';
import { AT, aClient, aCode, aGrant, anAccount, aRefreshToken } from '../../test/builders.ts';
import { openAccounts } from '../adapters/store/accounts.ts';
import { openGrants } from '../adapters/store/grants.ts';
import { exchangeCode, refreshTokens } from './tokens.ts';

const LIFETIMES = { accessTokenMs: 3_600_000, codeMs: 60_000, refreshTokenMs: 86_400_000, grantMs: 864_000_000, refreshRaceWindowMs: 2000 };
/** RFC 7636, appendix B. */
const VERIFIER = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';

/** A code and a refresh token of one client, which may hang up while its access token is signed. */
const started = async () => {
  const { open, ensureIndexes } = indexedCollections(memoryDatabase());
  const ids = systemIds();
  const clock = fakeClock(AT);
  const accounts = openAccounts(open, { clock, ids, source: 'identity-and-oauth', onCommit: () => undefined }).store;
  const stores = { accounts, ...openGrants(open) };
  await ensureIndexes();
  await accounts.insert({ state: anAccount(), events: [] });
  for (const id of ['of-code', 'of-token']) await stores.grants.insert(aGrant({ id }));
  await stores.codes.insert(aCode({ grantId: 'of-code' }));
  await stores.refreshTokens.issue(aRefreshToken({ issuedFor: 'of-token', grantId: 'of-token' }));
  let whileSigning = (): void => undefined;
  const sign = () => {
    whileSigning();
    return Promise.resolve('jwt');
  };
  const ports = { ...stores, accessTokenSigner: { sign }, lifetimes: LIFETIMES, clock, ids };
  return {
    ports,
    hangingUp: async (ask: (signal: AbortSignal) => Promise<unknown>) => {
      const controller = new AbortController();
      whileSigning = () => controller.abort(new Error('gone'));
      await expect(ask(controller.signal)).rejects.toThrow('gone');
      whileSigning = () => undefined;
    },
  };
};

describe('an app that hangs up', () => {
  const client = aClient();

  it('before its code is spent can exchange it again', async () => {
    const { ports, hangingUp } = await started();
    const exchange = (signal: AbortSignal) =>
      exchangeCode(ports)({ client, code: 'code-1', redirectUri: aCode().redirectUri, codeVerifier: VERIFIER, signal });
    await hangingUp(exchange);
    expect(await exchange(new AbortController().signal)).toMatchObject({ accessToken: 'jwt' });
  });

  it('before its refresh token is spent can refresh again', async () => {
    const { ports, hangingUp } = await started();
    const refresh = (signal: AbortSignal) => refreshTokens(ports)({ client, refreshToken: 'refresh-1', scope: '', signal });
    await hangingUp(refresh);
    expect(await refresh(new AbortController().signal)).toMatchObject({ accessToken: 'jwt' });
  });
});
