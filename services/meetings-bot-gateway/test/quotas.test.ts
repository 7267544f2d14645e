import { afterEach, describe, expect, it } from '@jest/globals';
import { TEAM } from './builders.ts';
import { fakeIdentity, MEETING, startGateway, type TestGateway } from './gateway.ts';

const running: TestGateway[] = [];
const gateway = async (options?: Parameters<typeof startGateway>[0]): Promise<TestGateway> => {
  const started = await startGateway(options);
  running.push(started);
  return started;
};
afterEach(async () => {
  for (const one of running.splice(0).toReversed()) await one.stop();
});

const meetingOf = (n: number) => `https://meet.google.com/abc-defg-hi${String.fromCharCode(97 + n)}`;

describe('quotas', () => {
  const joins = ({ call }: TestGateway, count: number, userId = 'ada') =>
    Promise.all(
      Array.from({ length: count }, (_, n) => call('POST', '/v1/meetings/join', { ...MEETING, meeting_url: meetingOf(n) }, { userId })),
    );
  const wait = ({ headers }: { readonly headers: Headers }) => headers.get('retry-after');
  const free = (): ReturnType<typeof fakeIdentity> => {
    const identity = fakeIdentity();
    identity.teams.set(TEAM, { id: TEAM, known: true, plan: 'free', archived: false, channel_ids: [] });
    return identity;
  };

  it('[MEET-04] hold for a user over an hour, at once too, and say when there is room', async () => {
    const started = await gateway({ environment: { MEETINGS_PER_USER_AND_HOUR: '3' } });
    const statuses = (await joins(started, 6)).map(({ status }) => status).toSorted();
    expect(statuses).toEqual([201, 201, 201, 429, 429, 429]);
    expect(await started.runs()).toHaveLength(3);
    await started.pass(600);
    const refused = await started.join({ meeting_url: meetingOf(9) });
    expect([refused.status, refused.body.error.type, wait(refused)]).toEqual([429, 'rate_limited', '3000']);
    expect((await started.join({ meeting_url: meetingOf(9) }, { userId: 'ben' })).status).toBe(201);
    await started.pass(3000);
    expect((await started.join({ meeting_url: meetingOf(10) })).status).toBe(201);
  });

  it('[MEET-04] hold for a free team until Monday, and not for another one', async () => {
    const started = await gateway({ identity: free(), environment: { MEETINGS_PER_FREE_TEAM_AND_WEEK: '2' } });
    const statuses = (await joins(started, 4)).map(({ status }) => status).toSorted();
    expect(statuses).toEqual([201, 201, 429, 429]);
    const refused = await started.join({ meeting_url: meetingOf(9) }, { userId: 'ben' });
    expect([refused.status, wait(refused)]).toEqual([429, String(6.5 * 86_400)]);
    started.identity.teams.set(TEAM, { id: TEAM, known: true, plan: 'pro', archived: false, channel_ids: [] });
    expect((await started.join({ meeting_url: meetingOf(9) }, { userId: 'ben' })).status).toBe(201);
  });

  it('[MEET-04][MEET-06] charge nothing for what is refused or joins a running join', async () => {
    const started = await gateway({ environment: { MEETINGS_PER_USER_AND_HOUR: '1' } });
    await started.join({ team_id: 'unknown' });
    await started.join({ meeting_url: 'https://example.com/' });
    expect((await started.join()).status).toBe(201);
    expect((await started.join()).status).toBe(201);
    await started.join({}, { userId: 'ben' });
    expect((await started.join({ meeting_url: meetingOf(1) }, { userId: 'ben' })).status).toBe(201);
  });

  it('[MEET-04] give the week back that recorded nothing, and both for a notetaker that was never sent', async () => {
    const environment = { MEETINGS_PER_USER_AND_HOUR: '2', MEETINGS_PER_FREE_TEAM_AND_WEEK: '1', NOTETAKERS: 'google_meet=simulator' };
    const started = await gateway({ identity: free(), environment });
    await started.join({ meeting_url: 'https://zoom.us/j/1234567890' });
    const { id } = (await started.join()).body;
    expect((await started.join({ meeting_url: meetingOf(1) })).status).toBe(429);
    await started.report(id, { status: 'fatal', fatal_reason: 'entry_denied' });
    expect((await started.join({ meeting_url: meetingOf(1) })).status).toBe(201);
    expect((await started.join({ meeting_url: meetingOf(2) }, { userId: 'ben' })).status).toBe(429);
  });
});
