import { afterEach, describe, expect, it } from '@jest/globals';
import type { ProviderWebhook } from '../src/ports.ts';
import { startGateway } from './gateway.ts';
import { recallEvent, recallSettings, recallWebhook, startRecallServer } from './recall-world.ts';

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).toReversed()) await stop();
});

type Headers = Readonly<Record<string, string>>;

const scene = async () => {
  const server = await startRecallServer();
  stops.push(server.stop);
  const gateway = await startGateway({ environment: recallSettings(server) });
  stops.push(gateway.stop);
  const { id } = (await gateway.join()).body;
  const bot = server.botOf(id);
  const post = ({ headers, body }: ProviderWebhook, more: Headers = {}) => {
    // It has no undefined one.
    const sent = { 'content-type': 'application/json', ...(headers as Headers), ...more };
    return gateway.hook({ headers: sent, body: Buffer.from(body).toString() }, 'recall');
  };
  const signed = (event: string, body: Buffer = recallEvent(bot)) => recallWebhook(event, body, { at: gateway.clock.now() });
  /** It comes to this, says so, and what follows is done. */
  const tell = async (code: string, subCode: string | null = null): Promise<string> => {
    server.move(bot, code, subCode);
    const { status } = await post(signed(`msg_${bot.status_changes.length}`));
    expect(status).toBe(204);
    await gateway.pass(3);
    return (await gateway.status(id)).body.status;
  };
  const looks = () => server.requests.filter(({ method, path }) => method === 'GET' && path.endsWith(`${bot.id}/`)).length;
  const results = () => gateway.metric('meeting_provider_webhooks_total');
  return { server, gateway, id, bot, post, signed, tell, looks, results };
};

describe('webhooks of Recall.ai', () => {
  it('[MEET-07][MEET-09] bring a join from the request to the recording within seconds', async () => {
    const { gateway, bot, tell } = await scene();
    expect(await tell('joining_call')).toBe('joining');
    expect(await tell('in_waiting_room')).toBe('in_waiting_room');
    expect(await tell('in_call_not_recording')).toBe('in_call');
    expect(await tell('in_call_recording')).toBe('recording');
    expect(await tell('call_ended')).toBe('done');
    bot.kept = { recording: 'there', transcript: 'there' };
    await tell('done');
    await gateway.pass(60);
    expect(gateway.captured).toHaveLength(1);
  });

  it('have older headers and bodies in older workspaces', async () => {
    const { gateway, server, id, bot, post, signed } = await scene();
    server.move(bot, 'in_waiting_room');
    const status = { code: 'in_waiting_room', created_at: '2026-03-02T12:00:00Z', message: null, sub_code: null };
    const { headers, body } = signed(
      'msg_1',
      Buffer.from(JSON.stringify({ event: 'bot.status_change', data: { bot_id: bot.id, status } })),
    );
    const older = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.replace('webhook', 'svix'), value]));
    expect((await post({ headers: older, body })).status).toBe(204);
    await gateway.pass(3);
    expect((await gateway.status(id)).body.status).toBe('in_waiting_room');
  });

  it('count once, and each is one question', async () => {
    const { gateway, server, bot, post, signed, looks, results } = await scene();
    server.move(bot, 'joining_call');
    const webhook = signed('msg_1');
    const answers = await Promise.all(Array.from({ length: 10 }, () => post(webhook)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([204]));
    await gateway.pass(3);
    expect(looks()).toBe(1);
    const counted = await results();
    for (const [result, count] of [
      ['stored', 1],
      ['repeated', 9],
    ])
      expect(counted).toContain(`{provider="recall",result="${result}"} ${count}`);
  });

  it('that are forged or late move nothing', async () => {
    const { gateway, server, id, bot, post, signed, looks } = await scene();
    server.move(bot, 'call_ended', 'bot_kicked_from_call');
    const webhook = signed('msg_1');
    const { headers, body } = webhook;
    const forged = [
      post({ headers: {}, body }),
      post(webhook, { 'webhook-id': 'msg_2' }),
      post(webhook, { 'webhook-signature': `v1,${'A'.repeat(43)}=` }),
      post(recallWebhook('msg_3', recallEvent(bot), { at: gateway.clock.now(), secret: Buffer.alloc(24) })),
      post({ headers, body: Buffer.from(`${Buffer.from(body).toString()} `) }),
    ];
    expect((await Promise.all(forged)).map(({ status }) => status)).toEqual([401, 401, 401, 401, 401]);
    await gateway.clock.advance(301_000);
    const looksBefore = looks();
    expect((await post(webhook)).status).toBe(401);
    await gateway.settle();
    expect(looks()).toBe(looksBefore);
    expect((await gateway.status(id)).body.status).toBe('fatal');
  });

  it.each([
    ['a prototype', '{"__proto__":{"data":{"bot_id":"x"}},"constructor":{"prototype":{"polluted":true}}}'],
    ['no bot', '{"event":"calendar.update","data":{"calendar_id":"x"}}'],
    ['no JSON', '{"event":'],
    ['deep nesting', '['.repeat(100_000)],
  ])('with %s are answered, and move nothing', async (_what, text) => {
    const { gateway, id, post, signed, looks } = await scene();
    expect((await post(signed('msg_1', Buffer.from(text)))).status).toBe(204);
    await gateway.settle();
    expect([looks(), (await gateway.status(id)).body.status, 'polluted' in {}]).toEqual([0, 'dispatched', false]);
  });

  it('of ten megabytes are refused before they are read, signed or not', async () => {
    const { gateway, post, signed, looks } = await scene();
    const body = Buffer.from(`{"pad":"${'x'.repeat(10 * 1024 * 1024)}"}`);
    const answers = await Promise.all([post(signed('msg_1', body)), post({ headers: {}, body })]);
    expect(answers.map(({ status }) => status)).toEqual([400, 400]);
    await gateway.settle();
    expect(looks()).toBe(0);
  });

  it('about the join of another provider, or of nobody, move nothing', async () => {
    const { gateway, bot, post, signed, looks } = await scene();
    const stranger = {
      ...bot,
      id: 'b-9',
      metadata: { join_id: 'mj_9' },
      status_changes: [{ code: 'fatal', sub_code: null, message: null, created_at: '' }],
    };
    expect((await post(signed('msg_1', recallEvent(stranger)))).status).toBe(204);
    await gateway.pass(3);
    expect(looks()).toBe(0);
  });
});
