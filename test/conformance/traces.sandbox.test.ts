import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { send } from './support/client.ts';
import { type HookScene, openHookScene } from './support/hooks.ts';
import { control } from './support/sandbox-world.ts';

interface Line {
  readonly service?: string;
  readonly message: string;
  readonly trace_id?: string;
  readonly [field: string]: unknown;
}

describe('a trace', () => {
  let scene: HookScene;
  beforeAll(async () => {
    scene = await openHookScene({ LOG_LEVEL: 'debug' });
  });
  afterAll(() => scene.close());

  /** Once it has been written: the sandbox writes its log and answers through different pipes. */
  const lineOf = async (isWanted: (line: Line) => boolean): Promise<Line> => {
    for (;;) {
      const lines = scene.sandbox.errors().split('\n').slice(0, -1);
      const found = lines.map((line): Line => JSON.parse(line)).find(isWanted);
      if (found !== undefined) return found;
      await new Promise(setImmediate);
    }
  };

  it('leads from a recording through events and services to the delivery of its webhook', async () => {
    const subscriber = await scene.subscriber();
    const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
    const recorded = await fetch(`${scene.sandbox.url}/_sandbox/bubbles`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', traceparent: `00-${traceId}-00f067aa0ba902b7-00` },
      body: JSON.stringify({ type: 'screen_recording', team_id: subscriber.team.id, participant_ids: [subscriber.person.id] }),
    });
    expect(recorded.status).toBe(200);
    await control(scene.sandbox.url, 'POST /settle');
    const [received] = subscriber.receiver.received;
    const deliveryId = received?.headers['x-service-delivery'];
    expect(deliveryId).toMatch(/^dlv_/);
    const attempt = await lineOf((line) => line.message === 'webhook attempted' && line['deliveryId'] === deliveryId);
    expect(attempt).toMatchObject({ service: 'webhooks-dispatcher', trace_id: traceId, outcome: '2xx' });
    // What the dispatcher asks before the attempt is of the same trace at those who answer.
    for (const route of ['/internal/v1/access', '/internal/v1/readable'])
      expect(await lineOf((line) => line['route'] === route && line.trace_id === traceId)).toMatchObject({
        message: 'request',
        status: 200,
      });
    expect(received?.headers).not.toHaveProperty('traceparent');
  });

  it('[GEN-09] leads from the id of an answer through gateway, identity and service to the delivery that it asked for', async () => {
    const subscriber = await scene.subscriber();
    const stranger = { traceparent: `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01`, 'x-request-id': 'of-a-stranger' };
    const answer = await send(scene.sandbox.url, `/v1/webhooks/${subscriber.id}/test`, {
      method: 'POST',
      as: subscriber.person.pat,
      headers: stranger,
    });
    await control(scene.sandbox.url, 'POST /settle');
    const requestId = answer.headers.get('x-request-id');
    const ofRequest = (service: string) => lineOf((line) => line.service === service && line['request_id'] === requestId);
    const { trace_id: traceId } = await ofRequest('gateway');
    expect(traceId).toMatch(/^(?!1{32})[0-9a-f]{32}$/);
    for (const service of ['identity-and-oauth', 'webhooks-dispatcher'])
      expect(await ofRequest(service)).toMatchObject({ trace_id: traceId });
    expect(await lineOf((line) => line['deliveryId'] === answer.json.id)).toMatchObject({
      message: 'webhook attempted',
      trace_id: traceId,
    });
  });
});
