import type { AccountFacts } from '@bubbles/contracts/internal/identity.ts';
import { describe, expect, it } from '@jest/globals';
import { dieEverywhere, type World } from './crashing.ts';
import type { TestIdentity } from './identity.ts';

const keysOf = async ({ survivor, ada }: World) => (await survivor.as(ada.session)('GET', '/v1/api-keys')).body.data;
const use = async ({ survivor }: World, token: string) => (await survivor.as(token)('GET', '/v1/me')).body.error?.type ?? 'works';
const heardOf = ({ doomed, survivor }: World) =>
  // The service parses its own events against their schema before they leave.
  [...doomed.bus.published, ...survivor.bus.published].map(({ id, data }) => ({ id, facts: data as AccountFacts }));

describe('dying between any two steps of the store', () => {
  it('[GEN-13] creating a key under an idempotency key: asked again there is one, it works, and it takes one place', async () => {
    const ask = (identity: TestIdentity, { ada }: World) =>
      identity.as(ada.session, { 'idempotency-key': 'a' })('POST', '/v1/api-keys', { name: 'last' });
    const deaths = await dieEverywhere(
      async (here) => {
        for (let i = 1; i < 9; i += 1) await here.survivor.admin('POST', `accounts/${here.ada.id}/keys`, { name: 'k' });
        return ask(here.doomed, here);
      },
      async (here, answer) => {
        const again = await ask(here.survivor, here);
        expect(again.status).toBe(201);
        if (answer !== null) expect(again.body).toEqual(answer.body);
        expect(await use(here, again.body.token)).toBe('works');
        expect((await keysOf(here)).filter(({ name }: { name: string }) => name === 'last')).toHaveLength(1);
        expect(await keysOf(here)).toHaveLength(10);
      },
    );
    expect(deaths).toBeGreaterThan(4);
  });

  it('[KEY-05] creating a key: it is there whole or not at all, and the cap holds', async () => {
    const deaths = await dieEverywhere(
      async ({ doomed, survivor, ada }) => {
        for (let i = 1; i < 9; i += 1) await survivor.admin('POST', `accounts/${ada.id}/keys`, { name: 'k' });
        return doomed.as(ada.session)('POST', '/v1/api-keys', { name: 'last' });
      },
      async (here, answer) => {
        const names = (await keysOf(here)).map(({ name }: { name: string }) => name);
        if (answer) {
          expect(names[0]).toBe('last');
          expect(await use(here, answer.body.token)).toBe('works');
        }
        const again = await here.survivor.as(here.ada.session)('POST', '/v1/api-keys', { name: 'again' });
        expect(again.status).toBe(names.length === 10 ? 409 : 201);
        expect(await keysOf(here)).toHaveLength(10);
      },
    );
    expect(deaths).toBeGreaterThan(1);
  });

  it('[KEY-07] [KEY-08] revoking a key: it works or is revoked, never unknown; a second try ends it', async () => {
    const deaths = await dieEverywhere(
      ({ doomed, ada }) => doomed.as(ada.session)('DELETE', `/v1/api-keys/${ada.patId}`),
      async (here, answer) => {
        const before = await use(here, here.ada.pat);
        expect(['works', 'token_revoked']).toContain(before);
        if (answer) expect(before).toBe('token_revoked');
        const again = await here.survivor.as(here.ada.session)('DELETE', `/v1/api-keys/${here.ada.patId}`);
        expect(again.status).toBe(before === 'works' ? 204 : 404);
        expect(await use(here, here.ada.pat)).toBe('token_revoked');
        expect(await keysOf(here)).toEqual([]);
      },
    );
    expect(deaths).toBeGreaterThan(2);
  });

  it('[AUTH-05] opening a deleted account again: a key is of a closed account or revoked, never unknown and never works', async () => {
    const setState = ({ admin }: Pick<TestIdentity, 'admin'>, id: string, state: string) => admin('PUT', `accounts/${id}/state`, { state });
    const deaths = await dieEverywhere(
      async ({ doomed, survivor, ada }) => {
        await setState(survivor, ada.id, 'deleted');
        return setState(doomed, ada.id, 'active');
      },
      async (here, answer) => {
        const before = await use(here, here.ada.pat);
        expect(['account_deleted', 'token_revoked']).toContain(before);
        if (answer) expect(before).toBe('token_revoked');
        expect((await setState(here.survivor, here.ada.id, 'active')).status).toBe(200);
        expect(await use(here, here.ada.pat)).toBe('token_revoked');
      },
    );
    expect(deaths).toBeGreaterThan(2);
  });

  it('changing an account: the change and its event are both there or neither, and a repeat is known as one', async () => {
    const deaths = await dieEverywhere(
      async ({ doomed, ada }) => {
        const answer = await doomed.admin('PUT', `accounts/${ada.id}/state`, { state: 'disabled' });
        await doomed.settle().catch(() => undefined);
        return answer;
      },
      async (here, answer) => {
        const { body } = await here.survivor.admin('GET', `accounts/${here.ada.id}`);
        if (answer) expect(body.state).toBe('disabled');
        const told = heardOf(here).filter(({ facts }) => facts.state === 'disabled');
        expect(told.length > 0).toBe(body.state === 'disabled');
        expect(new Set(told.map(({ id }) => id)).size).toBe(body.state === 'disabled' ? 1 : 0);
        await here.survivor.admin('PUT', `accounts/${here.ada.id}/state`, { state: 'disabled' });
        expect((await here.survivor.admin('GET', `accounts/${here.ada.id}`)).body).toMatchObject({ state: 'disabled', revision: 2 });
        await here.survivor.settle();
        expect(heardOf(here).map(({ facts }) => facts.revision)).toContain(2);
      },
    );
    expect(deaths).toBeGreaterThan(2);
  });

  const accountsAt = async ({ survivor }: World, email: string) =>
    (await survivor.admin('GET', `accounts?email=${email}`)).body.accounts.map(({ user_id }: { user_id: string }) => user_id);
  const create = ({ admin }: Pick<TestIdentity, 'admin'>, email: string) =>
    admin('POST', 'accounts', { name: 'Ben', email, picture_url: null, key_name: null });

  it('making an account: its address is its own or free, never lost', async () => {
    const deaths = await dieEverywhere(
      ({ doomed }) => create(doomed, 'ben@acme.test'),
      async (here, answer) => {
        const found = await accountsAt(here, 'ben@acme.test');
        if (answer) expect(found).toEqual([answer.body.account.user_id]);
        expect((await create(here.survivor, 'BEN@acme.test')).status).toBe(found.length === 0 ? 201 : 409);
        expect(await accountsAt(here, 'ben@acme.test')).toHaveLength(1);
      },
    );
    expect(deaths).toBeGreaterThan(3);
  });

  it('changing an address: the account has the old one or the new one, the other one is free, and asked again it has the new one', async () => {
    const deaths = await dieEverywhere(
      ({ doomed, ada }) => doomed.admin('PATCH', `accounts/${ada.id}`, { email: 'new@acme.test' }),
      async (here, answer) => {
        const { email } = (await here.survivor.admin('GET', `accounts/${here.ada.id}`)).body;
        if (answer) expect(email).toBe('new@acme.test');
        expect(await accountsAt(here, email)).toEqual([here.ada.id]);
        expect((await create(here.survivor, email)).status).toBe(409);
        const asked = email === 'new@acme.test' ? 'unused@acme.test' : 'new@acme.test';
        expect((await here.survivor.admin('PATCH', `accounts/${here.ada.id}`, { email: asked })).status).toBe(200);
        expect([await accountsAt(here, asked), await accountsAt(here, email)]).toEqual([[here.ada.id], []]);
        expect((await create(here.survivor, email)).status).toBe(201);
      },
    );
    expect(deaths).toBeGreaterThan(5);
  });

  it('changing an address: another account may have the one that was left behind, and the one that was kept is safe from it', async () => {
    const deaths = await dieEverywhere(
      ({ doomed, ada }) => doomed.admin('PATCH', `accounts/${ada.id}`, { email: 'new@acme.test' }),
      async (here) => {
        const { email } = (await here.survivor.admin('GET', `accounts/${here.ada.id}`)).body;
        const made = await create(here.survivor, 'new@acme.test');
        expect(made.status).toBe(email === 'new@acme.test' ? 409 : 201);
        expect(await accountsAt(here, email)).toEqual([here.ada.id]);
      },
    );
    expect(deaths).toBeGreaterThan(5);
  });

  it('deleting an account: its address is its own until it is deleted, and free afterwards', async () => {
    const deaths = await dieEverywhere(
      async ({ doomed, survivor, ada }) => {
        await survivor.admin('PATCH', `accounts/${ada.id}`, { email: 'ada@acme.test' });
        return doomed.admin('PUT', `accounts/${ada.id}/state`, { state: 'deleted' });
      },
      async (here) => {
        const { state } = (await here.survivor.admin('GET', `accounts/${here.ada.id}`)).body;
        expect((await create(here.survivor, 'ada@acme.test')).status).toBe(state === 'deleted' ? 201 : 409);
      },
    );
    expect(deaths).toBeGreaterThan(3);
  });
});
