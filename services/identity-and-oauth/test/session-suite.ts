import { describe, expect, it } from '@jest/globals';
import type { AccountStore, CredentialStore, SessionStore } from '../src/ports.ts';
import { AT, anAccount, aSession } from './builders.ts';

type Make = () => Promise<{ readonly sessions: SessionStore; readonly accounts: AccountStore; readonly credentials: CredentialStore }>;

export const describeSessionStore = (make: Make) =>
  describe('SessionStore', () => {
    it('ends a session once', async () => {
      const { sessions, accounts, credentials } = await make();
      await accounts.insert({ state: anAccount(), events: [] });
      const session = aSession();
      await sessions.insert(session);
      expect((await credentials.byHash([session.hash])).get(session.hash)).toMatchObject({
        id: 'session-1',
        kind: 'session',
        status: 'live',
      });
      expect(await sessions.end('session-1', AT)).toBe(true);
      expect(await sessions.end('session-1', AT)).toBe(false);
      expect(await sessions.end('nobody', AT)).toBe(false);
      expect((await credentials.byHash([session.hash])).get(session.hash)?.status).toBe('ended');
    });

    it('lists those of an account that go on, newest first', async () => {
      const { sessions } = await make();
      const minutes = (n: number) => new Date(AT.getTime() + n * 60_000);
      for (const [n, id] of ['b', 'a', 'c', 'd', 'over'].entries())
        await sessions.insert(aSession({ id, token: id, expiresAt: id === 'over' ? AT : minutes(n + 1) }));
      await sessions.insert(aSession({ id: 'other', token: 'other', accountId: 'user-2', expiresAt: minutes(9) }));
      await sessions.end('d', AT);
      expect((await sessions.ofAccount('user-1', AT, 2)).map(({ id }) => id)).toEqual(['c', 'a']);
      expect(await sessions.ofAccount('user-2', AT, 2)).toEqual([
        aSession({ id: 'other', token: 'other', accountId: 'user-2', expiresAt: minutes(9) }),
      ]);
      expect(await sessions.ofAccount('nobody', AT, 2)).toEqual([]);
    });

    it('ends one of an account and all of an account, and none of others', async () => {
      const { sessions } = await make();
      const idsOf = async (accountId: string) => (await sessions.ofAccount(accountId, AT, 9)).map(({ id }) => id);
      for (const id of ['one', 'two', 'three']) await sessions.insert(aSession({ id, token: id }));
      await sessions.insert(aSession({ id: 'other', token: 'other', accountId: 'user-2' }));
      expect(await sessions.endOwn('user-2', 'one', AT)).toBe(false);
      expect(await sessions.endOwn('user-1', 'one', AT)).toBe(true);
      expect(await sessions.endOwn('user-1', 'one', AT)).toBe(false);
      expect((await idsOf('user-1')).toSorted()).toEqual(['three', 'two']);
      await sessions.endOfAccount('user-1', AT);
      await sessions.endOfAccount('user-1', AT);
      expect([await idsOf('user-1'), await idsOf('user-2')]).toEqual([[], ['other']]);
    });

    it('ends one by the hash of its token, and no other one', async () => {
      const { sessions } = await make();
      const [one, two] = [aSession({ id: 'one', token: 'one' }), aSession({ id: 'two', token: 'two' })];
      for (const session of [one, two]) await sessions.insert(session);
      await sessions.endByHash(one.hash, AT);
      await sessions.endByHash('unknown', AT);
      expect((await sessions.ofAccount('user-1', AT, 9)).map(({ id }) => id)).toEqual(['two']);
    });

    it('forgets what expired before, and nothing else', async () => {
      const { sessions } = await make();
      await sessions.insert(aSession({ id: 'old', token: 'old', expiresAt: new Date(AT.getTime() - 1) }));
      await sessions.insert(aSession({ id: 'new', token: 'new', expiresAt: AT }));
      expect(await sessions.forgetExpiredBefore(AT)).toBe(1);
      expect(await sessions.forgetExpiredBefore(AT)).toBe(0);
    });
  });
