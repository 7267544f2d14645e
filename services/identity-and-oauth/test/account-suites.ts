import { describe, expect, it } from '@jest/globals';
import type { Account } from '../src/domain/account.ts';
import type { SignIn } from '../src/domain/sign-in.ts';
import { MAX_ACTIVE_KEYS } from '../src/domain/token.ts';
import type { AccountStore, AddressStore } from '../src/ports.ts';
import type { SignInStore } from '../src/sign-in-ports.ts';
import { AT, aKey, anAccount } from './builders.ts';

type Make = () => Promise<{ readonly accounts: AccountStore; readonly addresses: AddressStore; readonly signIns: SignInStore }>;

export const withoutEvents = (state: Account) => ({ state, events: [] });

export const describeAccountStore = (make: Make) =>
  describe('AccountStore', () => {
    it('gives back what was inserted, and null for what was not', async () => {
      const { accounts } = await make();
      const account = anAccount({ keys: [aKey()], memberships: [{ teamId: 'team-1', role: 'guest', hidden: true }], email: null });
      await accounts.insert(withoutEvents(account));
      expect(await accounts.get('user-1')).toEqual(account);
      expect(await accounts.get('nobody')).toBeNull();
      expect([...(await accounts.byIds(['nobody', 'user-1', 'user-1']))]).toEqual([['user-1', account]]);
      expect((await accounts.byIds([])).size).toBe(0);
    });

    it('pages in order of id', async () => {
      const { accounts } = await make();
      for (const id of ['c', 'a', 'd', 'b']) await accounts.insert(withoutEvents(anAccount({ id })));
      const ids = async (after: string | null) => (await accounts.page({ after, limit: 2 })).map(({ id }) => id);
      expect([await ids(null), await ids('b'), await ids('d')]).toEqual([['a', 'b'], ['c', 'd'], []]);
    });

    it('update of an absent id changes nothing and says so', async () => {
      const { accounts } = await make();
      expect(await accounts.update('nobody', withoutEvents)).toBeNull();
    });

    it('updates that race all count', async () => {
      const { accounts } = await make();
      await accounts.insert(withoutEvents(anAccount()));
      await Promise.all(
        Array.from({ length: 8 }, () =>
          accounts.update('user-1', (account) => withoutEvents({ ...account, revision: account.revision + 1 })),
        ),
      );
      expect((await accounts.get('user-1'))?.revision).toBe(9);
    });

    it('[KEY-05] takes ten keys of twenty that come at once, and an update beside them loses none', async () => {
      const { accounts } = await make();
      await accounts.insert(withoutEvents(anAccount()));
      const keys = Array.from({ length: 20 }, (_, i) => aKey({ id: `key-${i}` }));
      const [added] = await Promise.all([
        Promise.all(keys.map((key) => accounts.addKey('user-1', key))),
        accounts.update('user-1', (account) => withoutEvents({ ...account, name: 'Ada L.' })),
      ]);
      expect(added.filter(Boolean)).toHaveLength(MAX_ACTIVE_KEYS);
      const account = await accounts.get('user-1');
      expect(account?.keys.map(({ id }) => id).toSorted()).toEqual(keys.flatMap(({ id }, i) => (added[i] ? [id] : [])).toSorted());
      expect(account?.name).toBe('Ada L.');
    });

    it('[KEY-08] removes a key once, which frees its place', async () => {
      const { accounts } = await make();
      const keys = Array.from({ length: 10 }, (_, i) => aKey({ id: `key-${i}` }));
      await accounts.insert(withoutEvents(anAccount({ keys })));
      expect(await accounts.addKey('user-1', aKey({ id: 'key-10' }))).toBe(false);
      expect(await accounts.removeKey('user-1', 'key-4')).toBe(true);
      expect(await accounts.removeKey('user-1', 'key-4')).toBe(false);
      expect(await accounts.addKey('user-1', aKey({ id: 'key-10' }))).toBe(true);
      expect((await accounts.get('user-1'))?.keys.map(({ id }) => id)).toEqual([0, 1, 2, 3, 5, 6, 7, 8, 9, 10].map((i) => `key-${i}`));
    });
  });

export const describeAddressStore = (make: Make) =>
  describe('AddressStore', () => {
    const taken = { address: 'ada@acme.test', accountId: 'user-1', takenAt: AT, version: 1 };
    const later = new Date(AT.getTime() + 1000);

    it('gives an address to one of ten who take it at once', async () => {
      const { addresses } = await make();
      const ids = Array.from({ length: 10 }, (_, i) => `user-${i}`);
      const inserted = await Promise.all(ids.map((accountId) => addresses.insert({ ...taken, accountId })));
      expect(inserted.filter(Boolean)).toHaveLength(1);
      expect(await addresses.get(taken.address)).toEqual({ ...taken, accountId: ids[inserted.indexOf(true)] });
      expect(await addresses.get('nobody@acme.test')).toBeNull();
      const each = await addresses.getEach([taken.address, 'nobody@acme.test']);
      expect([...each.keys()]).toEqual([taken.address]);
      expect(await addresses.getEach([])).toEqual(new Map());
    });

    it('gives it to another account once, and only when nothing has changed since it was read', async () => {
      const { addresses } = await make();
      await addresses.insert(taken);
      const moved = await Promise.all(['b', 'c', 'd'].map((accountId) => addresses.replace(taken, { accountId, takenAt: later })));
      expect(moved.filter(Boolean)).toHaveLength(1);
      const accountId = ['b', 'c', 'd'][moved.indexOf(true)] ?? '';
      expect(await addresses.get(taken.address)).toEqual({ ...taken, accountId, takenAt: later, version: 2 });
      expect([await addresses.keep(taken), await addresses.keep({ ...taken, accountId })]).toEqual([false, true]);
    });

    it('frees it only when nothing has changed since it was read', async () => {
      const { addresses } = await make();
      await addresses.insert(taken);
      expect(await addresses.keep({ ...taken, takenAt: later })).toBe(true);
      await addresses.free(taken);
      const now = await addresses.get(taken.address);
      expect(now).toEqual({ ...taken, takenAt: later, version: 2 });
      if (now) await addresses.free(now);
      expect(await addresses.get(taken.address)).toBeNull();
      expect(await addresses.keep(taken)).toBe(false);
    });

    it('knows that the addresses of earlier accounts were taken', async () => {
      const { addresses } = await make();
      expect(addresses.isComplete()).toBe(false);
      addresses.markComplete();
      expect(addresses.isComplete()).toBe(true);
    });
  });

export const describeSignInStore = (make: Make) =>
  describe('SignInStore', () => {
    const later = new Date(AT.getTime() + 1000);
    const aSignIn: SignIn = {
      id: 'sign-in-1',
      browserHash: 'hash',
      address: 'ada@acme.test',
      returnTo: '/app/',
      newAccountId: 'user-1',
      expiresAt: later,
      isProven: false,
    };

    it('keeps one until it ends, which only comes nearer', async () => {
      const { signIns } = await make();
      await signIns.insert(aSignIn);
      await signIns.prove('sign-in-1');
      await signIns.endAt('sign-in-1', new Date(later.getTime() + 1));
      expect(await signIns.get('sign-in-1')).toEqual({ ...aSignIn, isProven: true });
      await signIns.endAt('sign-in-1', AT);
      expect(await signIns.get('sign-in-1')).toEqual({ ...aSignIn, isProven: true, expiresAt: AT });
      expect(await signIns.get('sign-in-2')).toBeNull();
    });

    it('forgets what has ended, and nothing else', async () => {
      const { signIns } = await make();
      await signIns.insert(aSignIn);
      await signIns.insert({ ...aSignIn, id: 'sign-in-2', expiresAt: AT });
      await signIns.forgetExpired(AT);
      expect([await signIns.get('sign-in-1'), await signIns.get('sign-in-2')]).toEqual([aSignIn, null]);
    });
  });
