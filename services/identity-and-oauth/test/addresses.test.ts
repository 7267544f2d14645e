import { SIGNUP_CALLS } from '@bubbles/contracts/internal/identity-signup.ts';
import type { Collection, Database, Doc } from '@bubbles/store/collection.ts';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { startIdentity, type TestIdentity } from './identity.ts';

const ADA = 'ada@acme.test';
const MINUTE_MS = 60_000;

let identity: TestIdentity;
beforeEach(async () => {
  identity = await startIdentity();
});
afterEach(() => identity.stop());

const idsAt = async (email: string) => {
  const { body } = await identity.admin('GET', `accounts?email=${encodeURIComponent(email)}`);
  return body.accounts.map(({ user_id }: { user_id: string }) => user_id);
};
const create = (email: string | null) => identity.admin('POST', 'accounts', { name: 'Ada', email, picture_url: null, key_name: null });
const patch = (id: string, body: object) => identity.admin('PATCH', `accounts/${id}`, body);

describe('who an address belongs to', () => {
  it('is found whatever its case, and nobody is found at another one', async () => {
    const { id } = await identity.person({ email: 'Ada@Exämple.test' });
    expect(await idsAt('ADA@xn--exmple-cua.TEST')).toEqual([id]);
    expect(await idsAt(ADA)).toEqual([]);
    expect(await idsAt('no address')).toEqual([]);
  });

  it('is one account: a second one is refused with 409 and not made', async () => {
    const { id } = await identity.person({ email: ADA });
    const refused = await create('ADA@acme.test');
    expect([refused.status, refused.body.error]).toEqual([
      409,
      { type: 'invalid_request', message: 'email: another account has this address.' },
    ]);
    const other = await identity.person();
    expect((await patch(other.id, { email: ADA })).status).toBe(409);
    expect(await idsAt(ADA)).toEqual([id]);
    expect((await identity.admin('GET', 'accounts')).body.accounts).toHaveLength(2);
  });

  it('ten accounts that are made at once with one address are one', async () => {
    const statuses = (await Promise.all(Array.from({ length: 10 }, () => create(ADA)))).map(({ status }) => status);
    expect(statuses.toSorted()).toEqual([201, ...Array(9).fill(409)]);
    expect(await idsAt(ADA)).toHaveLength(1);
  });

  it('a text that is not an address is refused; accounts without one are as many as there are', async () => {
    const refused = await create('ada at acme');
    expect([refused.status, refused.body.error.message]).toEqual([400, 'email: must be an e-mail address']);
    expect([(await create(null)).status, (await create(null)).status]).toEqual([201, 201]);
  });

  it('moves with the profile: the new one is taken, the old one is free', async () => {
    const { id } = await identity.person({ email: ADA });
    expect((await patch(id, { email: 'lovelace@acme.test' })).body.email).toBe('lovelace@acme.test');
    expect([await idsAt(ADA), await idsAt('lovelace@acme.test')]).toEqual([[], [id]]);
    expect((await create(ADA)).status).toBe(201);
    expect((await patch(id, { name: 'Countess' })).body.email).toBe('lovelace@acme.test');
    expect((await patch(id, { email: 'LOVELACE@acme.test' })).body.email).toBe('LOVELACE@acme.test');
    expect((await patch(id, { email: null })).status).toBe(200);
    expect((await create('lovelace@acme.test')).status).toBe(201);
  });

  it('is freed when its account is deleted, and not taken for one that is', async () => {
    const { id } = await identity.person({ email: ADA });
    await identity.admin('PUT', `accounts/${id}/state`, { state: 'disabled' });
    expect((await create(ADA)).status).toBe(409);
    await identity.admin('PUT', `accounts/${id}/state`, { state: 'deleted' });
    expect((await patch(id, { email: ADA })).status).toBe(400);
    expect((await create(ADA)).status).toBe(201);
    await identity.admin('PUT', `accounts/${id}/state`, { state: 'active' });
    expect((await patch(id, { email: ADA })).status).toBe(409);
  });

  it('an account that changes back and forth at once ends with the address that its profile says', async () => {
    const { id } = await identity.person({ email: ADA });
    await Promise.all(['b@acme.test', ADA, 'c@acme.test', ADA, 'b@acme.test'].map((email) => patch(id, { email })));
    const { email } = (await identity.admin('GET', `accounts/${id}`)).body;
    expect(await idsAt(email)).toEqual([id]);
    await identity.clock.advance(MINUTE_MS);
    for (const other of [ADA, 'b@acme.test', 'c@acme.test'])
      expect([other, (await create(other)).status]).toEqual([other, other === email ? 409 : 201]);
  });
});

describe('a process that stands still between taking an address and writing the profile', () => {
  /** The same data, seen by a process whose next write of an account waits. */
  const stalled = (database: Database) => {
    const { promise: reached, resolve: reach } = Promise.withResolvers<void>();
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const wait = async () => {
      reach();
      await released;
    };
    const stalling = <T extends Doc>(collection: Collection<T>): Collection<T> => ({
      ...collection,
      insert: async (doc) => {
        await wait();
        return collection.insert(doc);
      },
      updateOne: async (...args) => {
        await wait();
        return collection.updateOne(...args);
      },
    });
    const seen: Database = {
      ...database,
      collection: <T extends Doc>(name: string) => {
        const collection = database.collection<T>(name);
        return name === 'accounts' ? stalling(collection) : collection;
      },
    };
    return { seen, reached, release };
  };
  const beside = async () => {
    const { seen, reached, release } = stalled(identity.database);
    return { reached, release, slow: await startIdentity({ database: seen, clock: identity.clock }) };
  };

  it('for less than a minute keeps the address', async () => {
    const { slow, reached, release } = await beside();
    const making = slow.admin('POST', 'accounts', { name: 'Ada', email: ADA, picture_url: null, key_name: null });
    await reached;
    await identity.clock.advance(MINUTE_MS - 1);
    expect((await create(ADA)).status).toBe(409);
    release();
    expect((await making).status).toBe(201);
    expect(await idsAt(ADA)).toEqual([(await making).body.account.user_id]);
    await slow.stop();
  });

  it('for longer loses it to another account, and takes back what it wrote', async () => {
    const { slow, reached, release } = await beside();
    const making = slow.admin('POST', 'accounts', { name: 'Ada', email: ADA, picture_url: null, key_name: null });
    await reached;
    await identity.clock.advance(MINUTE_MS);
    const { body } = await create(ADA);
    release();
    expect((await making).status).toBe(409);
    expect(await idsAt(ADA)).toEqual([body.account.user_id]);
    const profiles = (await identity.admin('GET', 'accounts')).body.accounts.map(({ state, email }: Record<string, unknown>) => [
      state,
      email,
    ]);
    expect(profiles.toSorted()).toEqual([
      ['active', ADA],
      ['deleted', null],
    ]);
    await slow.stop();
  });

  const signUp = (at: TestIdentity) =>
    at.service('signup')('POST', SIGNUP_CALLS.create.path, { flow_id: 'flow-0000000000000001', email: ADA, name: 'Acme' });
  const accounts = async () => (await identity.admin('GET', 'accounts')).body.accounts;

  it('[SIGN-11] leaves the account to a sign-up that finishes it, and says that the address has one', async () => {
    const { slow, reached, release } = await beside();
    const making = slow.admin('POST', 'accounts', { name: 'Ada', email: ADA, picture_url: null, key_name: 'first' });
    await reached;
    const { status, body } = await signUp(identity);
    expect(status).toBe(200);
    release();
    expect((await making).status).toBe(409);
    const memberships = [{ team_id: body.team_id, role: 'admin', hidden: false }];
    expect(await accounts()).toMatchObject([{ user_id: body.user_id, state: 'active', email: ADA, memberships, active_keys: [] }]);
    await slow.stop();
  });

  it('[SIGN-11] while it signs somebody up puts the account that has the address meanwhile into the workspace', async () => {
    const { slow, reached, release } = await beside();
    const signing = signUp(slow);
    await reached;
    await identity.clock.advance(MINUTE_MS);
    const { body } = await create(ADA);
    release();
    const { user_id, team_id } = (await signing).body;
    expect(user_id).toBe(body.account.user_id);
    const memberships = [{ team_id, role: 'admin', hidden: false }];
    const [active, ...others] = (await accounts()).toSorted((a: { state: string }, b: { state: string }) => a.state.localeCompare(b.state));
    expect(active).toMatchObject({ user_id, state: 'active', email: ADA, memberships });
    expect(others).toMatchObject([{ state: 'deleted', email: null }]);
    await slow.stop();
  });

  it('[SIGN-10] while it changes a profile lets a sign-up of the address wait a minute, which is then finished', async () => {
    const { id } = await identity.person({ email: 'old@acme.test' });
    const { slow, reached, release } = await beside();
    const changing = slow.admin('PATCH', `accounts/${id}`, { email: ADA });
    await reached;
    const early = await signUp(identity);
    expect([early.status, early.headers.get('retry-after')]).toEqual([500, '60']);
    await identity.clock.advance(MINUTE_MS);
    const { user_id, team_id } = (await signUp(identity)).body;
    release();
    expect((await changing).status).toBe(409);
    expect([await idsAt(ADA), await idsAt('old@acme.test')]).toEqual([[user_id], [id]]);
    expect((await identity.admin('GET', 'teams')).body.teams.map((team: { id: string }) => team.id)).toEqual([team_id]);
    await slow.stop();
  });

  it('for longer while it changes a profile leaves that with the address it had', async () => {
    const { id } = await identity.person({ email: 'old@acme.test' });
    const { slow, reached, release } = await beside();
    const changing = slow.admin('PATCH', `accounts/${id}`, { email: ADA });
    await reached;
    await identity.clock.advance(MINUTE_MS);
    const { body } = await create(ADA);
    release();
    expect((await changing).status).toBe(409);
    expect([await idsAt(ADA), await idsAt('old@acme.test')]).toEqual([[body.account.user_id], [id]]);
    await slow.stop();
  });
});
