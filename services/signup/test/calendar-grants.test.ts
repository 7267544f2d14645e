import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type CalendarWorld, startCalendarWorld } from './calendar-world.ts';
import { type FakeProvider, startFakeProvider } from './fake-calendar-provider.ts';

let provider: FakeProvider;
let world: CalendarWorld;
beforeEach(async () => {
  provider = await startFakeProvider();
  world = await startCalendarWorld(provider);
});
afterEach(async () => {
  await world.stop();
  await provider.stop();
});

const connect = async (): Promise<void> => {
  await world.connect(world.linksOf().google);
  await world.settle();
};

describe('the grants of an account', () => {
  it.each(['disabled', 'deleted'] as const)(
    '[SIGN-08] that is %s are revoked at the provider and erased, those of others stay',
    async (state) => {
      await connect();
      await world.connect(world.linksOf('ada', 'flow-2').google, 'home');
      await world.connect(world.linksOf('ben').google, 'ben');
      await world.accountChanges('ada', { state, life: 1 });
      expect(provider.revoked.map((token) => token.split('-')[1]).sort()).toEqual(['home', 'subject']);
      expect(await world.grants()).toMatchObject([{ userId: 'ben' }]);
    },
  );

  it('[SIGN-08] stay when something else of it changes, however often that is told', async () => {
    await connect();
    for (let n = 0; n < 3; n += 1) await world.accountChanges('ada', { state: 'active', life: 1 });
    expect(provider.revocationCalls).toEqual([]);
    expect(await world.grants()).toMatchObject([{ isChecked: true, userId: 'ada' }]);
  });

  it('[SIGN-08] end with its life: an account that was deleted and opened again has none of them', async () => {
    await connect();
    await world.accountChanges('ada', { state: 'active', life: 2 });
    expect([provider.revoked.length, await world.grants()]).toEqual([1, []]);
  });

  it('[SIGN-08] are revoked when the account was closed while its user consented', async () => {
    const { location, cookie } = await world.get(world.linksOf().google);
    await world.accountChanges('ada', { state: 'deleted', life: 1 });
    expect((await world.get(provider.consent(location), cookie)).status).toBe(200);
    await world.settle();
    expect([provider.revoked.length, await world.grants()]).toEqual([1, []]);
  });

  it('[SIGN-08] of Microsoft, which takes no token back, are erased', async () => {
    provider.scope = 'openid Calendars.Read';
    await world.connect(world.linksOf().microsoft);
    expect(await world.grants()).toHaveLength(1);
    await world.accountChanges('ada', { state: 'disabled', life: 1 });
    expect([provider.revocationCalls, await world.grants()]).toEqual([[], []]);
  });

  it('[SIGN-08] are revoked also when the client is not configured any more', async () => {
    await connect();
    const { database, clock, accounts } = world;
    const environment = { GOOGLE_CALENDAR_CLIENT_ID: '', GOOGLE_CALENDAR_CLIENT_SECRET: '' };
    const bare = await startCalendarWorld(provider, { database, clock, accounts, environment });
    await bare.accountChanges('ada', { state: 'disabled', life: 1 });
    expect([provider.revoked.length, await world.grants()]).toEqual([1, []]);
    await bare.stop();
  });

  it('[SIGN-08] that the provider has revoked before are erased', async () => {
    await connect();
    provider.answerRevocation = (res) => void res.writeHead(400).end('{"error":"invalid_token"}');
    await world.accountChanges('ada', { state: 'disabled', life: 1 });
    expect(await world.grants()).toEqual([]);
  });
});

describe('a revocation that fails', () => {
  it.each<[string, NonNullable<FakeProvider['answerRevocation']>]>([
    ['500', (res) => void res.writeHead(500).end()],
    ['429', (res) => void res.writeHead(429).end()],
    ['400 of another kind', (res) => void res.writeHead(400).end('{"error":"invalid_request"}')],
    ['no answer', (res) => void res.destroy()],
  ])('[SIGN-08] with %s is tried again with growing pauses until it is done', async (_, answerRevocation) => {
    await connect();
    provider.answerRevocation = answerRevocation;
    await world.accountChanges('ada', { state: 'disabled', life: 1 });
    const calls: number[] = [];
    for (const seconds of [0, 59, 1, 119, 1]) {
      await world.pass(seconds);
      calls.push(provider.revocationCalls.length);
    }
    expect([calls, (await world.grants()).length]).toEqual([[1, 1, 2, 2, 3], 1]);
    provider.answerRevocation = null;
    await world.pass(240);
    expect([provider.revoked.length, await world.grants()]).toEqual([1, []]);
  });

  it('[SIGN-08] for weeks ends with the erasure, which an operator can read', async () => {
    await connect();
    provider.answerRevocation = (res) => void res.writeHead(503).end();
    await world.accountChanges('ada', { state: 'disabled', life: 1 });
    for (let n = 0; n < 600 && (await world.grants()).length > 0; n += 1) await world.pass(3600);
    expect([await world.grants(), provider.revocationCalls.length]).toEqual([[], 500]);
    expect(world.log.lines.map(({ message }) => message)).toContain('calendar grant erased without revocation');
  });

  it('[SIGN-08] waits for identity while that is away', async () => {
    await connect();
    world.accounts.isAway = true;
    await world.accountChanges('ada', { state: 'disabled', life: 1 });
    expect([provider.revoked, (await world.grants()).length]).toEqual([[], 1]);
    world.accounts.isAway = false;
    await world.pass(60);
    expect([provider.revoked.length, await world.grants()]).toEqual([1, []]);
  });
});
