import { DomainError } from '@bubbles/kernel/errors.ts';
import type { Database, Doc, Filter } from '@bubbles/store/collection.ts';
import { memoryDatabase } from '@bubbles/testing/memory-database.ts';
import { afterEach, describe, expect, it } from '@jest/globals';
import type { Join } from '../src/domain/join.ts';
import { TEAM } from './builders.ts';
import { startGateway, type TestGateway } from './gateway.ts';

const running: TestGateway[] = [];
const gateway = async (options: Parameters<typeof startGateway>[0] = {}): Promise<TestGateway> => {
  const started = await startGateway(options);
  running.push(started);
  return started;
};
afterEach(async () => {
  for (const one of running.splice(0)) await one.stop();
});

const ADMIN = '/internal/v1/admin';
const LINK = 'https://zoom.us/j/1234567890?pwd=open-sesame';

describe('what an operator watches', () => {
  it('joins by platform, status and reason, how long their dispatch took, and what is still to be done', async () => {
    const { join, report, figures, pass } = await gateway({ environment: { MEETINGS_PER_USER_AND_HOUR: '2' } });
    const { id } = (await join()).body;
    await report(id, { status: 'fatal', fatal_reason: 'the_provider_made_this_up' });
    const other = (await join({ meeting_url: LINK })).body.id;
    expect((await join({ meeting_url: 'https://meet.google.com/zzz-zzzz-zzz' })).status).toBe(429);
    await pass(60);
    await report(other, { status: 'done', segments: [] });
    const lines = await figures();
    for (const line of [
      'meeting_joins_total{platform="google_meet",status="dispatched",reason="none"} 1',
      'meeting_joins_total{platform="google_meet",status="fatal",reason="other"} 1',
      'meeting_joins_total{platform="zoom",status="done",reason="none"} 1',
      'meeting_dispatch_seconds_count 2',
      'meeting_quota_refusals_total{quota="user_hour"} 1',
      'meeting_joins_silent 0',
      'meeting_captures_due 0',
      'meeting_captures_oldest_due_seconds 0',
    ])
      expect(lines).toContain(line);
    expect(lines.join('\n')).not.toContain('made_this_up');
  });

  it('is served without its gauges while the store is away', async () => {
    const opened = memoryDatabase();
    let isAway = false;
    const database: Database = {
      ...opened,
      collection: <T extends Doc>(name: string) => ({
        ...opened.collection<T>(name),
        count: (filter: Filter<T>) =>
          isAway ? Promise.reject(new DomainError('unavailable', 'away')) : opened.collection<T>(name).count(filter),
      }),
    };
    const { figures } = await gateway({ database });
    isAway = true;
    expect(await figures()).toEqual(expect.arrayContaining(['meeting_joins_silent Nan', 'meeting_captures_due Nan']));
  });
});

describe('what an operator does', () => {
  it('[MEET-13] lists joins that are stuck, or that an account asked for, without link and passcode', async () => {
    const { join, call, database } = await gateway();
    const { id } = (await join({ meeting_url: LINK })).body;
    expect((await call('GET', `${ADMIN}/stuck-joins`)).body).toEqual({ joins: [] });
    await database.collection<Join & Doc>('joins').updateOne({ _id: id }, { $set: { tries: 5 } });
    const told = expect.objectContaining({
      join_id: id,
      team_id: TEAM,
      platform: 'zoom',
      status: 'dispatched',
      provider: 'simulator',
      work: 'watch',
      failed_tries: 5,
      requester_ids: ['ada'],
    });
    for (const path of ['stuck-joins', 'accounts/ada/joins']) {
      const { body, text } = await call('GET', `${ADMIN}/${path}`);
      expect(body).toEqual({ joins: [told] });
      expect(text).not.toMatch(/1234567890|sesame|zoom\.us/);
    }
    expect((await call('GET', `${ADMIN}/accounts/ben/joins`)).body).toEqual({ joins: [] });
  });

  it('ends a join for all, and leaves a line in the log', async () => {
    const { join, call, settle, runs, log } = await gateway();
    const { id } = (await join()).body;
    const end = () => call('DELETE', `${ADMIN}/joins/${id}`);
    expect(await end()).toMatchObject({ status: 200, body: { status: 'fatal', fatal_reason: 'ended_by_operator' } });
    await settle();
    expect(await runs()).toEqual([expect.objectContaining({ left_at: expect.any(String) })]);
    expect(log.lines).toContainEqual(
      expect.objectContaining({ message: 'join ended by an operator', fields: { joinId: id, status: 'fatal' } }),
    );
    expect((await end()).body.fatal_reason).toBe('ended_by_operator');
    expect((await call('DELETE', `${ADMIN}/joins/mj_none`)).status).toBe(404);
  });
});
