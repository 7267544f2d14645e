import { afterEach, describe, expect, it } from '@jest/globals';
import { aUser, MEETING, startGateway, type TestGateway } from './gateway.ts';

const running: TestGateway[] = [];
const gateway = async (options?: Parameters<typeof startGateway>[0]): Promise<TestGateway> => {
  const started = await startGateway(options);
  running.push(started);
  return started;
};
afterEach(async () => {
  for (const one of running.splice(0).toReversed()) await one.stop();
});

describe('a closed account', () => {
  it('ends its joins, unless somebody else asked for them too', async () => {
    const { join, status, closeAccount, runs } = await gateway();
    const [alone, shared] = [(await join()).body, (await join({ meeting_url: 'https://meet.google.com/xyz-abcd-efg' })).body];
    await join({ meeting_url: 'https://meet.google.com/xyz-abcd-efg' }, { userId: 'ben' });
    await closeAccount('ada');
    expect((await status(alone.id)).body).toMatchObject({ status: 'fatal', fatal_reason: 'cancelled' });
    expect((await status(shared.id, 'ben')).body.status).toBe('dispatched');
    expect(new Map((await runs()).map(({ join_id, left_at }) => [join_id, left_at === null]))).toEqual(
      new Map([
        [alone.id, false],
        [shared.id, true],
      ]),
    );
  });
});

describe('accounts that are closed', () => {
  it('end a join when the last of its requesters is gone', async () => {
    const { join, status, closeAccount } = await gateway();
    const { id } = (await join()).body;
    await join({}, { userId: 'ben' });
    await closeAccount('ada');
    expect((await status(id, 'ben')).body.status).toBe('dispatched');
    await closeAccount('ben');
    expect((await status(id, 'ben')).body).toMatchObject({ status: 'fatal', fatal_reason: 'cancelled' });
  });
});

describe('a join of more people than identity answers about at once', () => {
  it('[MEET-09] goes on while one of them is there, and becomes a bubble of all', async () => {
    const started = await gateway();
    const { id } = (await started.join()).body;
    for (let n = 1; n <= 500; n += 1) {
      const userId = `user ${n}`;
      started.identity.users.set(userId, aUser(userId));
      await started.call('POST', '/v1/meetings/join', MEETING, { userId });
    }
    await started.closeAccount('ada');
    await started.report(id, { status: 'done' });
    expect(started.captured.map(({ participants }) => participants.length)).toEqual([501]);
    expect(started.captured[0]?.participants.at(-1)).toMatchObject({ user_id: 'user 500', is_external: false });
  });
});

describe('an account that was opened again', () => {
  const reopen = ({ identity }: TestGateway) => identity.users.set('ada', { ...aUser('ada'), life: 2 });
  const SECOND = { userId: 'ada', life: 2 };

  it('[MEET-06] is another requester: it neither sees nor ends what was asked for before', async () => {
    const started = await gateway();
    const { id } = (await started.join()).body;
    reopen(started);
    const none = await started.call('GET', '/v1/meetings/join/mj_none', undefined, SECOND);
    for (const [method, path] of [
      ['GET', id],
      ['GET', `${id}/events`],
      ['DELETE', id],
    ] as const) {
      const { status, text } = await started.call(method, `/v1/meetings/join/${path}`, undefined, SECOND);
      expect([status, text]).toEqual([404, none.text]);
    }
    expect((await started.call('GET', '/v1/meetings/join', undefined, SECOND)).body.data).toEqual([]);
    const own = (await started.join({ meeting_url: 'https://meet.google.com/xyz-abcd-efg' }, SECOND)).body;
    expect((await started.call('GET', '/v1/meetings/join', undefined, SECOND)).body.data).toEqual([
      expect.objectContaining({ id: own.id }),
    ]);
    expect((await started.status(own.id)).status).toBe(404);
  });

  it('keeps what it asks for now when news of its end comes late, and what it asked for before ends', async () => {
    const started = await gateway();
    const before = (await started.join()).body;
    reopen(started);
    const now = (await started.join({ meeting_url: 'https://meet.google.com/xyz-abcd-efg' }, SECOND)).body;
    await started.hearOfClosed('ada');
    expect((await started.status(before.id)).body).toMatchObject({ status: 'fatal', fatal_reason: 'cancelled' });
    expect((await started.call('GET', `/v1/meetings/join/${now.id}`, undefined, SECOND)).body.status).toBe('dispatched');
  });

  it('[MEET-09] does not take part in what was recorded for it before', async () => {
    const started = await gateway();
    const { id } = (await started.join()).body;
    await started.join({}, { userId: 'ben' });
    reopen(started);
    await started.report(id, { status: 'done' });
    expect(started.captured[0]?.participants.map(({ user_id }) => user_id)).toEqual([null, 'ben']);
  });
});
