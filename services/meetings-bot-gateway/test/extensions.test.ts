import { afterEach, describe, expect, it } from '@jest/globals';
import { bubbleIdOf } from '../src/domain/join.ts';
import { startGateway, type TestGateway } from './gateway.ts';

const running: TestGateway[] = [];
const gateway = async (): Promise<TestGateway> => {
  const started = await startGateway();
  running.push(started);
  return started;
};
afterEach(async () => {
  for (const one of running.splice(0)) await one.stop();
});

const PATH = '/v1/meetings/join';
const meetingOf = (n: number) => ({ meeting_url: `https://meet.google.com/abc-defg-hi${String.fromCharCode(97 + n)}` });

describe('GET /v1/meetings/join', () => {
  it('[MEET-14] lists the joins that the caller asked for, newest first, page by page', async () => {
    const { join, call, pass } = await gateway();
    const made: string[] = [];
    for (let n = 0; n < 3; n += 1) {
      made.unshift((await join(meetingOf(n))).body.id);
      await pass(1);
    }
    await join(meetingOf(1), { userId: 'ben' });
    const list = async (query: string, userId = 'ada') => (await call('GET', `${PATH}${query}`, undefined, { userId })).body;
    const idsOf = ({ data }: { data: { id: string }[] }) => data.map(({ id }) => id);
    expect(idsOf(await list(''))).toEqual(made);
    const first = await list('?limit=2');
    expect([idsOf(first), first.has_more]).toEqual([made.slice(0, 2), true]);
    const rest = await list(`?limit=2&cursor=${first.next_cursor}`);
    expect([idsOf(rest), rest.has_more, rest.next_cursor]).toEqual([made.slice(2), false, null]);
    expect(idsOf(await list('', 'ben'))).toEqual([made[1]]);
    expect((await list(`?status=done&cursor=${first.next_cursor}`)).error.type).toBe('invalid_request');
  });

  it('[MEET-14] filters by status', async () => {
    const { join, call, report } = await gateway();
    const [one, other] = [(await join(meetingOf(0))).body.id, (await join(meetingOf(1))).body.id];
    await report(one, { status: 'in_call' });
    const { data } = (await call('GET', `${PATH}?status=in_call`)).body;
    expect(data).toEqual([expect.objectContaining({ id: one, status: 'in_call', bot_in_call: true })]);
    expect((await call('GET', `${PATH}?status=dispatched`)).body.data).toEqual([expect.objectContaining({ id: other })]);
    expect((await call('GET', `${PATH}?status=gone`)).status).toBe(400);
  });
});

describe('DELETE /v1/meetings/join/{id}', () => {
  it('[MEET-14] ends the join, for all, and lets the notetaker leave', async () => {
    const { join, call, settle, runs, status } = await gateway();
    const { id } = (await join()).body;
    await join({}, { userId: 'ben' });
    expect((await call('DELETE', `${PATH}/${id}`, undefined, { userId: 'ben' })).status).toBe(204);
    expect((await status(id)).body).toMatchObject({ status: 'fatal', fatal_reason: 'cancelled' });
    await settle();
    expect(await runs()).toEqual([expect.objectContaining({ left_at: expect.any(String) })]);
  });

  it('[MEET-14] keeps what was recorded', async () => {
    const { join, call, settle, report, captured, status } = await gateway();
    const { id } = (await join()).body;
    await report(id, { status: 'recording' });
    await call('DELETE', `${PATH}/${id}`);
    await settle();
    expect((await status(id)).body).toMatchObject({ status: 'done', fatal_reason: null });
    expect(captured).toHaveLength(1);
  });

  it('[MEET-14] wins over what the provider tells afterwards, and is the same again', async () => {
    const { join, call, report, status } = await gateway();
    const { id } = (await join()).body;
    await call('DELETE', `${PATH}/${id}`);
    await report(id, { status: 'done' });
    expect((await call('DELETE', `${PATH}/${id}`)).status).toBe(204);
    expect((await status(id)).body).toMatchObject({ status: 'fatal', fatal_reason: 'cancelled' });
  });

  it("[MEET-06] ends nobody else's join", async () => {
    const { join, call, status } = await gateway();
    const { id } = (await join()).body;
    expect((await call('DELETE', `${PATH}/${id}`, undefined, { userId: 'ben' })).status).toBe(404);
    expect((await status(id)).body.status).toBe('dispatched');
  });
});

describe('GET /v1/meetings/join/{id}/events', () => {
  it('[MEET-14] tells when it came to each status, why it ended, and which bubble it became', async () => {
    const { join, call, report, pass } = await gateway();
    const { id } = (await join()).body;
    for (const next of ['joining', 'recording', 'done']) {
      await pass(10);
      await report(id, { status: next });
    }
    const { body } = await call('GET', `${PATH}/${id}/events`);
    const at = (seconds: number) => new Date(Date.UTC(2026, 2, 2, 12, 0, seconds)).toISOString();
    expect(body).toEqual({
      data: ['dispatched', 'joining', 'recording', 'done'].map((status, n) => ({ status, created_at: at(10 * n), reason: null })),
      bubble_id: bubbleIdOf(id),
    });
    expect((await call('GET', `${PATH}/${id}/events`, undefined, { userId: 'ben' })).status).toBe(404);
  });
});
