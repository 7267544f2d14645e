import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { startDispatcher, TEAM, type TestDispatcher } from './dispatcher.ts';

const NEW = { url: 'https://hooks.example.com/in', events: ['bubble.ready'] };
let dispatcher: TestDispatcher;
beforeEach(async () => {
  dispatcher = await startDispatcher({ config: { quota: { perUser: 3, perTeam: 4, testsPerMinute: 2 } } });
});
afterEach(() => dispatcher.stop());

describe('what one user may have of webhooks', () => {
  it('[GEN-14] [HOOK-01] refuses what is more than a user or a team may have with 409 that says so, however many ask at once', async () => {
    const members = ['ada', 'bob', 'eve'];
    for (const id of members)
      dispatcher.peers.user(id, { memberships: [{ team_id: TEAM.id, role: TEAM.role, hidden: false, visible_channel_ids: [] }] });
    const post = (userId: string, fields: object = {}) => dispatcher.call('POST', '', { ...NEW, ...fields }, { userId });
    const answers = await Promise.all(Array.from({ length: 8 }, () => post('ada')));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 201, 201, 409, 409, 409, 409, 409]);
    const [refused] = answers.filter(({ status }) => status === 409);
    expect(refused?.body.error).toEqual({ type: 'invalid_request', message: expect.stringContaining('3 webhook subscriptions') });
    const ofTeam = [
      await post('bob', { team_id: TEAM.id }),
      await post('bob', { team_id: TEAM.id }),
      await post('bob', { team_id: TEAM.id }),
    ];
    ofTeam.push(await post('eve', { team_id: TEAM.id }), await post('eve', { team_id: TEAM.id }));
    expect(ofTeam.map(({ status }) => status)).toEqual([201, 201, 201, 201, 409]);
    expect(ofTeam.at(-1)?.body.error.message).toContain('the team has 4 webhook subscriptions');
    expect((await post('eve')).status).toBe(201);
    const [first] = (await dispatcher.call('GET')).body.data;
    await dispatcher.call('DELETE', `/${first.id}`);
    expect((await post('ada')).status).toBe(201);
  });

  it('[GEN-14] [HOOK-07] a subscription has its number of tests a minute, however many are asked for at once', async () => {
    const { id } = await dispatcher.subscribe(NEW);
    const test = () => dispatcher.call('POST', `/${id}/test`);
    const answers = await Promise.all(Array.from({ length: 6 }, test));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([202, 202, 429, 429, 429, 429]);
    const refused = answers.find(({ status }) => status === 429);
    expect(refused?.body.error).toEqual({ type: 'rate_limited', message: expect.stringContaining('2 tests a minute') });
    expect(refused?.headers.get('retry-after')).toBe('60');
    expect(await dispatcher.deliveries(id)).toHaveLength(2);

    await dispatcher.clock.advance(59_500);
    expect((await test()).headers.get('retry-after')).toBe('1');
    await dispatcher.clock.advance(500);
    expect((await test()).status).toBe(202);
    await dispatcher.clock.set(new Date(dispatcher.clock.now().getTime() - 3_600_000));
    expect((await test()).status).toBe(202);
  });
});
