import { describe, expect, it } from '@jest/globals';
import type { CodeStore, GrantStore, RefreshTokenStore } from '../src/ports.ts';
import { AT, aCode, aGrant, aRefreshToken } from './builders.ts';

interface GrantStoresUnderTest {
  readonly grants: GrantStore;
  readonly codes: CodeStore;
  readonly refreshTokens: RefreshTokenStore;
}
type Make = () => Promise<GrantStoresUnderTest>;

const later = (ms: number) => new Date(AT.getTime() + ms);

const describeGrantStore = (make: Make) =>
  describe('GrantStore', () => {
    it('gives back what was inserted, and null for what was not', async () => {
      const { grants } = await make();
      const grant = aGrant();
      await grants.insert(grant);
      expect(await grants.get('grant-1')).toEqual(grant);
      expect(await grants.get('nothing')).toBeNull();
      expect([...(await grants.byIds(['nothing', 'grant-1']))]).toEqual([['grant-1', grant]]);
    });

    it('lists those of an account, newest first', async () => {
      const { grants } = await make();
      for (const [i, id] of ['b', 'a', 'c'].entries()) await grants.insert(aGrant({ id, createdAt: later(i) }));
      await grants.insert(aGrant({ id: 'other', accountId: 'user-2' }));
      expect((await grants.ofAccount('user-1')).map(({ id }) => id)).toEqual(['c', 'a', 'b']);
      expect(await grants.ofAccount('nobody')).toEqual([]);
    });

    it('pages those of an account by app, and ends those at one app', async () => {
      const { grants } = await make();
      for (const [id, clientId] of Object.entries({ one: 'b', two: 'a', three: 'b', four: 'c' }))
        await grants.insert(aGrant({ id, clientId }));
      await grants.insert(aGrant({ id: 'other', clientId: 'b', accountId: 'user-2' }));
      const page = async (after: string | null, limit: number) =>
        (await grants.ofAccountByClient('user-1', { after, limit })).map(({ clientId }) => clientId);
      expect([await page(null, 3), await page('a', 9), await page('c', 9)]).toEqual([['a', 'b', 'b'], ['b', 'b', 'c'], []]);
      const atClient = await grants.ofAccountAtClient('user-1', 'b', 9);
      expect(atClient.map(({ id }) => id).toSorted()).toEqual(['one', 'three']);
      expect(await grants.ofAccountAtClient('user-1', 'b', 1)).toHaveLength(1);
      await grants.endOfAccountAtClient('user-1', 'b');
      await grants.endOfAccountAtClient('user-1', 'b');
      expect([await page(null, 9), (await grants.get('other'))?.id]).toEqual([['a', 'c'], 'other']);
    });

    it('extends a grant that is there, and says when it has ended', async () => {
      const { grants } = await make();
      await grants.insert(aGrant());
      expect(await grants.extend('grant-1', later(5))).toBe(true);
      expect((await grants.get('grant-1'))?.expiresAt).toEqual(later(5));
      await grants.end('grant-1');
      expect(await grants.extend('grant-1', later(9))).toBe(false);
      expect(await grants.get('grant-1')).toBeNull();
    });

    it('ends one, those of an app and those of an account, and no others', async () => {
      const { grants } = await make();
      const all = [
        aGrant({ id: 'one' }),
        aGrant({ id: 'app', clientId: 'gone', accountId: 'user-2' }),
        aGrant({ id: 'account', accountId: 'gone' }),
        aGrant({ id: 'stays' }),
      ];
      for (const grant of all) await grants.insert(grant);
      await grants.end('one');
      await grants.end('one');
      expect(await grants.anyOfClient('gone')).toBe(true);
      await grants.endOfClient('gone');
      expect(await grants.anyOfClient('gone')).toBe(false);
      await grants.endOfAccount('gone');
      expect([...(await grants.byIds(all.map(({ id }) => id))).keys()]).toEqual(['stays']);
    });

    it('forgets what has expired, and nothing else', async () => {
      const { grants } = await make();
      await grants.insert(aGrant({ id: 'old', expiresAt: AT }));
      await grants.insert(aGrant({ id: 'new', expiresAt: later(1) }));
      await grants.sweep(AT);
      expect([...(await grants.byIds(['old', 'new'])).keys()]).toEqual(['new']);
    });
  });

const describeCodeStore = (make: Make) =>
  describe('CodeStore', () => {
    it('gives back what was inserted, and null for what was not', async () => {
      const { codes } = await make();
      await codes.insert(aCode());
      expect(await codes.get(aCode().hash)).toEqual(aCode());
      expect(await codes.get('nothing')).toBeNull();
    });

    it('forgets what was made before, and nothing else', async () => {
      const { codes } = await make();
      await codes.insert(aCode({ hash: 'old', createdAt: later(-1) }));
      await codes.insert(aCode({ hash: 'new', createdAt: AT }));
      await codes.sweep(AT);
      expect([await codes.get('old'), (await codes.get('new'))?.hash]).toEqual([null, 'new']);
    });
  });

const describeRefreshTokenStore = (make: Make) =>
  describe('RefreshTokenStore', () => {
    it('finds a token by its hash and by what was spent for it, and nothing else', async () => {
      const { refreshTokens } = await make();
      const token = aRefreshToken();
      expect(await refreshTokens.issue(token)).toBe(true);
      expect(await refreshTokens.get(token.hash)).toEqual(token);
      expect(await refreshTokens.issuedFor(token.issuedFor)).toEqual(token);
      expect(await refreshTokens.get(token.issuedFor)).toBeNull();
      expect(await refreshTokens.issuedFor(token.hash)).toBeNull();
    });

    it('[case 99] spends a token for one of ten that come at once, whose token alone is there', async () => {
      const { refreshTokens } = await make();
      const rivals = Array.from({ length: 10 }, (_, i) => aRefreshToken({ hash: `hash-${i}` }));
      const issued = await Promise.all(rivals.map((token) => refreshTokens.issue(token)));
      expect(issued.filter(Boolean)).toHaveLength(1);
      const found = await Promise.all(rivals.map(({ hash }) => refreshTokens.get(hash)));
      expect(found.map((token) => token !== null)).toEqual(issued);
      expect(await refreshTokens.issuedFor(aRefreshToken().issuedFor)).toEqual(rivals[issued.indexOf(true)]);
    });

    it('forgets what is kept no longer, whether it expired or not', async () => {
      const { refreshTokens } = await make();
      await refreshTokens.issue(aRefreshToken({ issuedFor: 'a', hash: 'old', keepUntil: AT }));
      await refreshTokens.issue(aRefreshToken({ issuedFor: 'b', hash: 'kept', expiresAt: later(-1), keepUntil: later(1) }));
      await refreshTokens.sweep(AT);
      expect([await refreshTokens.get('old'), (await refreshTokens.get('kept'))?.hash]).toEqual([null, 'kept']);
    });
  });

export const describeGrantStores = (engine: string, make: Make) =>
  describe(`stores of grants on ${engine}`, () => {
    describeGrantStore(make);
    describeCodeStore(make);
    describeRefreshTokenStore(make);
  });
