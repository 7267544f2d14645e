import { describe, expect, it } from '@jest/globals';
import type { BufferedUses } from '../src/adapters/store/uses.ts';
import type { Team } from '../src/domain/team.ts';
import type {
  AccountStore,
  AddressStore,
  CredentialStore,
  GrantStore,
  RevokedKeyStore,
  SealedKey,
  SessionStore,
  SigningKeyStore,
  TeamStore,
} from '../src/ports.ts';
import type { SignInStore } from '../src/sign-in-ports.ts';
import { describeAccountStore, describeAddressStore, describeSignInStore, withoutEvents } from './account-suites.ts';
import { AT, aGrant, aKey, anAccessToken, anAccount, aSession, aTeam } from './builders.ts';
import { describeSessionStore } from './session-suite.ts';

export interface StoresUnderTest {
  readonly accounts: AccountStore;
  readonly addresses: AddressStore;
  readonly signIns: SignInStore;
  readonly teams: TeamStore;
  readonly sessions: SessionStore;
  readonly revokedKeys: RevokedKeyStore;
  readonly credentials: CredentialStore;
  readonly grants: GrantStore;
  readonly keyUses: BufferedUses;
  /** Those of another replica on the same data. */
  readonly otherKeyUses: BufferedUses;
}
type Make = () => Promise<StoresUnderTest>;

const describeTeamStore = (make: Make) =>
  describe('TeamStore', () => {
    it('keeps teams with their channels', async () => {
      const { teams } = await make();
      const team = aTeam({ channels: [{ id: 'leads', name: null, memberIds: ['user-1'] }] });
      await teams.insert(team);
      expect(await teams.get('team-1')).toEqual(team);
      expect(await teams.update('team-1', (one) => ({ ...one, archived: true }))).toEqual({ ...team, archived: true });
      expect([...(await teams.byIds(['team-1', 'nowhere']))]).toEqual([['team-1', { ...team, archived: true }]]);
      expect(await teams.update('nowhere', (one) => one)).toBeNull();
      expect(await teams.update('team-1', () => null)).toEqual({ ...team, archived: true });
    });

    it('[SIGN-06] keeps the first team of an id, and the end of its trial', async () => {
      const { teams } = await make();
      const team = aTeam({ plan: 'free', trialEndsAt: AT });
      expect([await teams.insert(team), await teams.insert({ ...team, name: 'Another' })]).toEqual([true, false]);
      expect(await teams.get('team-1')).toEqual(team);
    });

    it('[SIGN-06] gives a mailbox one trial, whoever asks first', async () => {
      const { teams } = await make();
      const asked = await Promise.all(Array.from({ length: 20 }, (_, n) => teams.claimTrial('ada@acme.test', `team-${n}`)));
      expect(asked.filter(Boolean)).toHaveLength(1);
      const first = `team-${asked.indexOf(true)}`;
      expect([await teams.claimTrial('ada@acme.test', first), await teams.claimTrial('ben@acme.test', first)]).toEqual([true, true]);
    });

    it('[SIGN-04] finds the discoverable teams of domains, the oldest first', async () => {
      const { teams } = await make();
      const made = (id: string, seconds: number, fields: Partial<Team> = {}) =>
        teams.insert(aTeam({ id, domain: 'acme.test', discoverable: true, createdAt: new Date(AT.getTime() + seconds * 1000), ...fields }));
      await made('c', 1);
      await made('b', 2);
      await made('a', 2);
      await made('hidden', 0, { discoverable: false });
      await made('archived', 0, { archived: true });
      await made('other', 0, { domain: 'other.test' });
      await made('none', 0, { domain: null });
      await made('lab', 3, { domain: 'lab.acme.test' });
      const found = async (domains: readonly string[], limit = 10) => (await teams.discoverable(domains, limit)).map(({ id }) => id);
      expect([await found(['acme.test']), await found(['acme.test'], 2), await found(['nobody.test']), await found([])]).toEqual([
        ['c', 'a', 'b'],
        ['c', 'a'],
        [],
        [],
      ]);
      expect(await found(['lab.acme.test', 'acme.test'])).toEqual(['c', 'a', 'b', 'lab']);
      expect(await found(['lab.acme.test', 'acme.test'], 1)).toEqual(['c']);
    });
  });

const describeCredentialStore = (make: Make) =>
  describe('CredentialStore', () => {
    it('finds live keys, sessions and revoked keys together, each with its owner', async () => {
      const { accounts, sessions, revokedKeys, credentials } = await make();
      const [one, two, gone] = [aKey({ id: 'one' }), aKey({ id: 'two' }), aKey({ id: 'gone' })];
      const [ada, ben] = [anAccount({ id: 'ada', keys: [one] }), anAccount({ id: 'ben', keys: [two], state: 'disabled' })];
      for (const account of [ada, ben]) await accounts.insert(withoutEvents(account));
      const session = aSession({ accountId: 'ben' });
      await sessions.insert(session);
      const revoked = { hash: gone.hash, keyId: 'gone', accountId: 'ada', revokedAt: AT };
      await revokedKeys.put(revoked);
      await revokedKeys.put(revoked);
      const found = await credentials.byHash([two.hash, gone.hash, 'unknown', session.hash, one.hash]);
      const brief = (hash: string) => {
        const credential = found.get(hash);
        return credential && [credential.id, credential.kind, credential.status, credential.account.id];
      };
      expect([one.hash, two.hash, gone.hash, session.hash].map(brief)).toEqual([
        ['one', 'pat', 'live', 'ada'],
        ['two', 'pat', 'live', 'ben'],
        ['gone', 'pat', 'revoked', 'ada'],
        ['session-1', 'session', 'live', 'ben'],
      ]);
      expect(found.size).toBe(4);
      expect(found.get(one.hash)?.account).toEqual(ada);
    });

    it('the version of the owner rises with every change of state, memberships and keys', async () => {
      const { accounts, credentials } = await make();
      const key = aKey({ id: 'stays' });
      await accounts.insert(withoutEvents(anAccount({ keys: [key] })));
      const version = async () => (await credentials.byHash([key.hash])).get(key.hash)?.accountVersion ?? 0;
      const versions = [await version()];
      await accounts.addKey('user-1', aKey({ id: 'goes' }));
      versions.push(await version());
      await accounts.removeKey('user-1', 'goes');
      versions.push(await version());
      await accounts.update('user-1', (account) =>
        withoutEvents({ ...account, memberships: [{ teamId: 'team-1', role: 'admin', hidden: false }] }),
      );
      versions.push(await version());
      expect(versions).toEqual([...new Set(versions)].toSorted((a, b) => a - b));
      const byAccessToken = await credentials.byAccessToken(new Map([['a', anAccessToken()]]));
      expect(byAccessToken.get('a')?.accountVersion).toBe(versions.at(-1));
    });

    it('[case 97] finds the grant and the owner of each access token, whose scopes are its own; one that is not as its grant says has ended', async () => {
      const { accounts, grants, credentials } = await make();
      for (const id of ['ada', 'ben']) await accounts.insert(withoutEvents(anAccount({ id })));
      await grants.insert(aGrant({ id: 'one', accountId: 'ada' }));
      await grants.insert(aGrant({ id: 'two', accountId: 'ben' }));
      await grants.insert(aGrant({ id: 'over', accountId: 'ada', expiresAt: AT }));
      await grants.insert(aGrant({ id: 'earlier life', accountId: 'ada', life: 2 }));
      const tokens = {
        live: anAccessToken({ grantId: 'one', accountId: 'ada', scopes: ['bubbles:read'] }),
        'the same grant': anAccessToken({ grantId: 'one', accountId: 'ada' }),
        'of somebody else': anAccessToken({ grantId: 'two', accountId: 'ben' }),
        expired: anAccessToken({ grantId: 'one', accountId: 'ada', expiresAt: AT }),
        'no grant': anAccessToken({ grantId: 'gone', accountId: 'ada' }),
        'grant of another account': anAccessToken({ grantId: 'two', accountId: 'ada' }),
        'grant of another client': anAccessToken({ grantId: 'one', accountId: 'ada', clientId: 'client-2' }),
        'grant that is over': anAccessToken({ grantId: 'over', accountId: 'ada' }),
        'grant of an earlier life': anAccessToken({ grantId: 'earlier life', accountId: 'ada' }),
        'no account': anAccessToken({ grantId: 'one', accountId: 'nobody' }),
      };
      const found = await credentials.byAccessToken(new Map(Object.entries(tokens)));
      expect([...found].map(([hash, { id, kind, status, account }]) => [hash, id, kind, status, account.id])).toEqual([
        ['live', 'one', 'oauth', 'live', 'ada'],
        ['the same grant', 'one', 'oauth', 'live', 'ada'],
        ['of somebody else', 'two', 'oauth', 'live', 'ben'],
        ['expired', 'one', 'oauth', 'ended', 'ada'],
        ['no grant', 'gone', 'oauth', 'ended', 'ada'],
        ['grant of another account', 'two', 'oauth', 'ended', 'ada'],
        ['grant of another client', 'one', 'oauth', 'ended', 'ada'],
        ['grant that is over', 'over', 'oauth', 'ended', 'ada'],
        ['grant of an earlier life', 'earlier life', 'oauth', 'ended', 'ada'],
      ]);
      expect(found.get('live')?.scopes).toEqual(['bubbles:read']);
      expect((await credentials.byAccessToken(new Map())).size).toBe(0);
    });
  });

const describeUses = (make: Make) =>
  describe('Uses', () => {
    it('[KEY-09] keeps the latest use, whatever the order of notes and flushes', async () => {
      const { keyUses } = await make();
      const later = new Date(AT.getTime() + 1000);
      keyUses.note('key-1', later);
      keyUses.note('key-1', AT);
      await keyUses.flush();
      keyUses.note('key-1', AT);
      keyUses.note('key-2', AT);
      await keyUses.flush();
      expect(await keyUses.lastUsed(['key-1', 'key-2', 'never'])).toEqual(
        new Map([
          ['key-1', later],
          ['key-2', AT],
        ]),
      );
    });

    it('replicas that flush the first use of a key at the same time both count', async () => {
      const { keyUses, otherKeyUses } = await make();
      const ids = Array.from({ length: 50 }, (_, i) => `key-${i}`);
      const later = new Date(AT.getTime() + 1000);
      for (const [i, id] of ids.entries()) {
        keyUses.note(id, i % 2 ? later : AT);
        otherKeyUses.note(id, i % 2 ? AT : later);
      }
      await Promise.all([keyUses.flush(), otherKeyUses.flush()]);
      expect(await keyUses.lastUsed(ids)).toEqual(new Map(ids.map((id) => [id, later])));
    });

    it('forgets what nobody can use any more, and what was not used since', async () => {
      const { keyUses } = await make();
      for (const [i, id] of ['oldest', 'old', 'new', 'newest'].entries()) keyUses.note(id, new Date(AT.getTime() + i));
      await keyUses.flush();
      await keyUses.forget(['newest', 'never']);
      expect(await keyUses.forgetUsedBefore(new Date(AT.getTime() + 2))).toBe(2);
      expect([...(await keyUses.lastUsed(['oldest', 'old', 'new', 'newest'])).keys()]).toEqual(['new']);
    });
  });

export const describeStores = (engine: string, make: Make) =>
  describe(`stores on ${engine}`, () => {
    describeAccountStore(make);
    describeAddressStore(make);
    describeSignInStore(make);
    describeTeamStore(make);
    describeSessionStore(make);
    describeCredentialStore(make);
    describeUses(make);
  });

export const describeSigningKeyStore = (engine: string, make: () => Promise<SigningKeyStore<object>>) =>
  describe(`SigningKeyStore on ${engine}`, () => {
    const KEPT_MS = 10;
    const aSealedKey = (slot: number): SealedKey<object> => ({
      kid: `kid-${slot}`,
      slot,
      publishAt: AT,
      signFrom: AT,
      signUntil: new Date(AT.getTime() + slot),
      deleteAt: new Date(AT.getTime() + slot + KEPT_MS),
      publicKey: { kty: 'EC', crv: 'P-256', x: 'x', y: 'y' },
      sealed: 'sealed',
    });

    it('[case 99] a slot is taken once', async () => {
      const keys = await make();
      const inserted = await Promise.all(['a', 'b', 'c'].map((kid) => keys.insert({ ...aSealedKey(0), kid })));
      expect(inserted.filter(Boolean)).toHaveLength(1);
      expect(await keys.all()).toHaveLength(1);
    });

    it('gives all in order of slot, and drops those whose time is over, also by how long they are kept today', async () => {
      const keys = await make();
      for (const slot of [2, 0, 1]) await keys.insert(aSealedKey(slot));
      expect(await keys.all()).toEqual([0, 1, 2].map(aSealedKey));
      const now = new Date(AT.getTime() + KEPT_MS + 1);
      await keys.deleteDue(now, KEPT_MS + 1);
      expect(await keys.all()).toEqual([1, 2].map(aSealedKey));
      await keys.deleteDue(now, 0);
      expect(await keys.all()).toEqual([aSealedKey(2)]);
    });
  });
