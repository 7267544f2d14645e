import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type Person, startIdentity, type TestIdentity } from './identity.ts';

describe('the caller', () => {
  let identity: TestIdentity;
  let ada: Person;
  beforeEach(async () => {
    identity = await startIdentity();
    ada = await identity.person({ name: 'Ada', email: null, picture_url: 'https://acme.test/ada.png' });
  });
  afterEach(() => identity.stop());

  const teams = async (person: Person) => (await identity.as(person.pat)('GET', '/v1/teams')).body.data;

  it('[ME-01] [GEN-04] reads who it is, null where nothing is known', async () => {
    const { status, body } = await identity.as(ada.pat)('GET', '/v1/me');
    expect(status).toBe(200);
    expect(body).toEqual({ id: ada.id, email: null, name: 'Ada', picture_url: 'https://acme.test/ada.png' });
  });

  it('[ME-01] has no picture whose link is not https', async () => {
    for (const picture_url of ['http://acme.test/ada.png', 'javascript:alert(1)', 'data:image/png,']) {
      await identity.admin('PATCH', `accounts/${ada.id}`, { picture_url });
      expect((await identity.as(ada.pat)('GET', '/v1/me')).body.picture_url).toBeNull();
    }
  });

  it('[ME-01] sees a change of its profile at once', async () => {
    await identity.admin('PATCH', `accounts/${ada.id}`, { name: 'Ada L.', email: 'ada@acme.test' });
    expect((await identity.as(ada.pat)('GET', '/v1/me')).body).toMatchObject({ name: 'Ada L.', email: 'ada@acme.test' });
  });

  it('[TEAM-01] reads its teams with plan and role, in order of joining', async () => {
    const acme = await identity.team({ name: 'Acme' });
    const flea = await identity.team({ name: null, plan: 'free' });
    await identity.join(flea, ada.id, { role: 'admin' });
    await identity.join(acme, ada.id, { role: 'guest' });
    expect(await teams(ada)).toEqual([
      { id: flea, name: null, plan: 'free', role: 'admin', channels: [] },
      { id: acme, name: 'Acme', plan: 'pro', role: 'guest', channels: [] },
    ]);
  });

  it('[TEAM-02] archived teams and hidden memberships are left out', async () => {
    const archived = await identity.team({ archived: true });
    const linked = await identity.team();
    await identity.join(archived, ada.id);
    await identity.join(linked, ada.id, { role: 'guest', hidden: true });
    expect(await teams(ada)).toEqual([]);
    await identity.join(linked, ada.id, { role: 'guest', hidden: false });
    expect(await teams(ada)).toHaveLength(1);
  });

  it('[TEAM-03] shows the channels that the caller may see', async () => {
    const ben = await identity.person();
    const gus = await identity.person();
    const team = await identity.team();
    const channel = async (name: string, members: string[] | null) =>
      (await identity.admin('POST', `teams/${team}/channels`, { name, member_ids: members })).body.id;
    const general = await channel('general', null);
    const leads = await channel('leads', [ada.id, gus.id]);
    await identity.join(team, ada.id, { role: 'admin' });
    await identity.join(team, ben.id);
    await identity.join(team, gus.id, { role: 'guest' });
    const shown = async (person: Person) => (await teams(person))[0].channels;
    expect(await shown(ada)).toEqual([
      { id: general, name: 'general' },
      { id: leads, name: 'leads' },
    ]);
    expect(await shown(ben)).toEqual([{ id: general, name: 'general' }]);
    expect(await shown(gus)).toEqual([{ id: leads, name: 'leads' }]);
  });

  it('[TEAM-01] a membership that ended is gone', async () => {
    const team = await identity.team();
    await identity.join(team, ada.id);
    await identity.admin('DELETE', `teams/${team}/members/${ada.id}`);
    expect(await teams(ada)).toEqual([]);
  });
});
