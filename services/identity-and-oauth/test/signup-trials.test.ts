import { SIGNUP_CALLS } from '@bubbles/contracts/internal/identity-signup.ts';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type Answer, startIdentity, type TestIdentity } from './identity.ts';

const DAY_MS = 86_400_000;
const EMAIL = 'ada@acme.test';

let identity: TestIdentity;
beforeEach(async () => {
  identity = await startIdentity();
});
afterEach(() => identity.stop());

const flow = (n: number) => `flow-00000000000001${String(n).padStart(2, '0')}`;
const ask = (step: keyof typeof SIGNUP_CALLS, body: object): Promise<Answer> =>
  identity.service('signup')('POST', SIGNUP_CALLS[step].path, body);
const create = (n: number, email = EMAIL) => ask('create', { flow_id: flow(n), name: 'Acme', email });
const join = (team_id: string, email: string) => ask('join', { email, domain: 'acme.test', team_id });
const trialOf = async (n: number, email = EMAIL) => {
  const { status, body } = await create(n, email);
  return [status, body.trial_ends_at !== null];
};

describe('signing up again', () => {
  it('[SIGN-06] brings no second trial, in whatever spelling the mailbox is given and also after the first one is over', async () => {
    expect(await trialOf(1, 'a.da@gmail.com')).toEqual([200, true]);
    expect(await trialOf(2, 'a.da@gmail.com')).toEqual([200, false]);
    expect(await trialOf(3, 'ADA+again@googlemail.com')).toEqual([200, false]);
    await identity.clock.advance(365 * DAY_MS);
    expect(await trialOf(4, 'ada@gmail.com')).toEqual([200, false]);
    expect(await trialOf(1, 'a.da@gmail.com')).toEqual([200, true]);
    expect(await trialOf(5, 'ben@gmail.com')).toEqual([200, true]);
  });

  it('[SIGN-06] brings one trial when twenty workspaces are made at once', async () => {
    const made = await Promise.all(Array.from({ length: 20 }, (_, n) => trialOf(n)));
    expect(made.filter(([, trial]) => trial)).toHaveLength(1);
  });

  it('[SIGN-06] brings none after the account was deleted, nor after it got another address', async () => {
    const { user_id, team_id } = (await create(0)).body;
    await identity.admin('PATCH', `accounts/${user_id}`, { email: 'ada@other.test' });
    expect(await trialOf(1, 'ada@other.test')).toEqual([200, false]);
    await identity.admin('PUT', `accounts/${user_id}/state`, { state: 'deleted' });
    expect(await trialOf(2)).toEqual([200, false]);
    expect(JSON.stringify(await identity.database.collection('trials').find({}))).not.toContain('acme');
    expect((await identity.admin('GET', `teams/${team_id}`)).body.plan).toBe('pro');
  });

  it('[SIGN-06] brings none to who joined a workspace on trial, also when they left it', async () => {
    const { team_id } = (await create(0)).body;
    await ask('domainJoin', { flow_id: flow(0), email: EMAIL, domain: 'acme.test' });
    const { user_id } = (await join(team_id, 'ben@acme.test')).body;
    expect(await trialOf(1, 'ben@acme.test')).toEqual([200, false]);
    await identity.admin('DELETE', `teams/${team_id}/members/${user_id}`);
    expect(await trialOf(2, 'ben@acme.test')).toEqual([200, false]);
    const plain = await identity.team({ domain: 'acme.test', discoverable: true, plan: 'free' });
    await join(plain, 'cy@acme.test');
    expect(await trialOf(3, 'cy@acme.test')).toEqual([200, true]);
  });

  it('[SIGN-06] gets the trial that a request which died had claimed', async () => {
    expect(await trialOf(1)).toEqual([200, true]);
    await identity.database.collection('teams').deleteMany({});
    expect(await trialOf(1)).toEqual([200, true]);
  });
});
