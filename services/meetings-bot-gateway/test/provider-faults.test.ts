import { fakeClock } from '@bubbles/testing/fake-clock.ts';
import { afterEach, describe, expect, it } from '@jest/globals';
import { later, TEAM } from './builders.ts';
import { type FakeProvider, fakeProvider } from './fake-provider.ts';
import { fakeIdentity, MEETING, startGateway, type TestGateway } from './gateway.ts';

const running: TestGateway[] = [];
const gateway = async (options: Parameters<typeof startGateway>[0]): Promise<TestGateway> => {
  const started = await startGateway(options);
  running.push(started);
  return started;
};
afterEach(async () => {
  for (const one of running.splice(0).toReversed()) await one.stop();
});

const freeTeam = () => {
  const identity = fakeIdentity();
  identity.teams.set(TEAM, { id: TEAM, known: true, plan: 'free', archived: false, channel_ids: [] });
  return identity;
};
const callsOf = ({ calls }: FakeProvider, name: string) => calls.filter((call) => call.startsWith(name));
const minutes = async ({ pass }: TestGateway, count: number) => {
  for (let minute = 0; minute < count; minute += 1) await pass(60);
};
const meetingOf = (n: number) => `https://meet.google.com/xyz-defg-hi${String.fromCharCode(97 + n)}`;

describe('a provider that is away', () => {
  it('[MEET-10] for ten minutes: the join ends, nobody was sent, and both places are given back', async () => {
    const provider = fakeProvider();
    const started = await gateway({
      provider,
      identity: freeTeam(),
      environment: { MEETINGS_PER_USER_AND_HOUR: '1', MEETINGS_PER_FREE_TEAM_AND_WEEK: '1' },
    });
    provider.mode = 'away';
    const { id } = (await started.join()).body;
    await minutes(started, 11);
    expect((await started.status(id)).body).toMatchObject({ status: 'fatal', fatal_reason: 'notetaker_unavailable' });
    expect((await started.join({ meeting_url: meetingOf(1) })).status).toBe(429);
    provider.mode = 'there';
    await minutes(started, 6);
    expect(provider.runs).toEqual([]);
    expect((await started.join({ meeting_url: meetingOf(1) })).status).toBe(201);
    expect(provider.runs).toHaveLength(1);
  });

  it('[MEET-10] and sent a notetaker all the same: it is found, told to leave, and no second one is sent', async () => {
    const provider = fakeProvider();
    const started = await gateway({ provider, identity: freeTeam(), environment: { MEETINGS_PER_FREE_TEAM_AND_WEEK: '1' } });
    provider.mode = 'loses answers';
    const { id } = (await started.join()).body;
    provider.mode = 'away';
    await minutes(started, 11);
    expect((await started.status(id)).body.status).toBe('fatal');
    expect((await started.join({ meeting_url: meetingOf(1) })).status).toBe(429);
    provider.mode = 'there';
    await minutes(started, 6);
    expect(provider.runs.map(({ isGone }) => isGone)).toEqual([true]);
    expect((await started.join({ meeting_url: meetingOf(1) })).status).toBe(201);
  });

  it('[MEET-10] when a requester ends the join: its notetaker is found too', async () => {
    const provider = fakeProvider();
    const started = await gateway({ provider });
    provider.mode = 'loses answers';
    const { id } = (await started.join()).body;
    await started.call('DELETE', `/v1/meetings/join/${id}`);
    provider.mode = 'there';
    await minutes(started, 2);
    expect(provider.runs.map(({ isGone }) => isGone)).toEqual([true]);
    expect((await started.status(id)).body.fatal_reason).toBe('cancelled');
  });

  it('[MEET-10] for ever: the search for a notetaker ends with the day, and says so', async () => {
    const provider = fakeProvider();
    const started = await gateway({ provider });
    provider.mode = 'loses answers';
    await started.join();
    provider.mode = 'away';
    for (let hour = 0; hour < 9; hour += 1) await minutes(started, 60);
    expect(started.log.lines.map(({ message }) => message)).toContain('notetaker may still be in the call');
    const calls = callsOf(provider, 'find').length;
    await minutes(started, 60);
    expect(callsOf(provider, 'find')).toHaveLength(calls);
  });

  it('leaves room for other work while its calls hang', async () => {
    const provider = fakeProvider();
    const started = await gateway({ provider, environment: { MEETINGS_PER_USER_AND_HOUR: '100' } });
    const { id } = (await started.join()).body;
    provider.mode = 'hangs';
    for (let n = 1; n < 20; n += 1) await started.call('POST', '/v1/meetings/join', { ...MEETING, meeting_url: meetingOf(n) });
    expect((await started.status(id)).status).toBe(200);
    expect((await started.hook(provider.webhook('e1', { joinId: id }))).status).toBe(204);
    expect(callsOf(provider, 'dispatch').length).toBeLessThanOrEqual(9);
    provider.cut();
    provider.mode = 'there';
    await minutes(started, 2);
    expect(provider.runs).toHaveLength(20);
  });
});

describe('a clock that is set back', () => {
  /** Another process on the same data, six hours earlier. */
  const earlier = async (provider: FakeProvider, first: TestGateway): Promise<TestGateway> => {
    running.splice(running.indexOf(first), 1);
    await first.stop();
    return gateway({ provider, database: first.database, clock: fakeClock(later(-6 * 3600)) });
  };

  it('[MEET-10] sends nobody twice, and lets no join wait for it', async () => {
    const provider = fakeProvider();
    const first = await gateway({ provider });
    const { id } = (await first.join()).body;
    const started = await earlier(provider, first);
    await minutes(started, 20);
    expect(callsOf(provider, 'dispatch')).toHaveLength(1);
    expect(callsOf(provider, 'snapshot').length).toBeGreaterThan(1);
    expect((await started.status(id)).body).toMatchObject({ status: 'fatal', fatal_reason: 'notetaker_unavailable' });
    expect(provider.runs.map(({ isGone }) => isGone)).toEqual([true]);
  });

  it('[MEET-10] while its provider is away sends one notetaker when it is back', async () => {
    const provider = fakeProvider();
    const first = await gateway({ provider });
    provider.mode = 'away';
    const { id } = (await first.join()).body;
    const started = await earlier(provider, first);
    await minutes(started, 1);
    provider.mode = 'there';
    await minutes(started, 3);
    expect(provider.runs).toHaveLength(1);
    expect((await started.status(id)).body.status).toBe('dispatched');
  });

  it('[MEET-10] makes no provider that stays away wait for hours', async () => {
    const provider = fakeProvider();
    const first = await gateway({ provider });
    provider.mode = 'away';
    const { id } = (await first.join()).body;
    const started = await earlier(provider, first);
    await minutes(started, 25);
    expect((await started.status(id)).body).toMatchObject({ status: 'fatal', fatal_reason: 'notetaker_unavailable' });
  });
});

describe('two processes on one store', () => {
  it('[MEET-10] send one notetaker for each of many joins, and ask about each once', async () => {
    const provider = fakeProvider();
    const environment = { MEETINGS_PER_USER_AND_HOUR: '100' };
    const first = await gateway({ provider, environment });
    const second = await gateway({ provider, environment, database: first.database, clock: first.clock });
    const both = [first, second];
    await Promise.all(
      Array.from({ length: 24 }, (_, n) => both[n % 2]?.call('POST', '/v1/meetings/join', { ...MEETING, meeting_url: meetingOf(n) })),
    );
    await Promise.all(both.map(({ settle }) => settle()));
    expect(provider.runs).toHaveLength(24);
    expect(callsOf(provider, 'dispatch')).toHaveLength(24);
    await Promise.all(provider.runs.map(({ joinId }, n) => both[n % 2]?.hook(provider.webhook(`e${n}`, { joinId }))));
    await Promise.all(both.map(({ settle }) => settle()));
    await first.pass(30);
    await second.settle();
    expect(callsOf(provider, 'snapshot').toSorted()).toEqual(provider.runs.map(({ ref }) => `snapshot ${ref}`).toSorted());
  });

  it('[MEET-10] never ask a provider more often in a minute than they may together', async () => {
    const provider = fakeProvider();
    const environment = { MEETINGS_PER_USER_AND_HOUR: '100', NOTETAKER_SNAPSHOTS_PER_MINUTE: '10' };
    const first = await gateway({ provider, environment });
    const second = await gateway({ provider, environment, database: first.database, clock: first.clock });
    for (let n = 0; n < 24; n += 1) await first.join({ meeting_url: meetingOf(n) });
    const asked: number[] = [];
    for (let half = 0; half < 20; half += 1) {
      const before = callsOf(provider, 'snapshot').length;
      await first.pass(30);
      await second.settle();
      asked.push(callsOf(provider, 'snapshot').length - before);
    }
    const inMinutes = asked.map((count, n) => count + (asked[n + 1] ?? 0));
    expect(inMinutes.filter((count) => count > 10)).toEqual([]);
    expect(inMinutes.some((count) => count > 6)).toBe(true);
  });
});
