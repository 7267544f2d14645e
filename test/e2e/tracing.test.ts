import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { send } from '../conformance/support/client.ts';
import { type HookScene, openHookScene } from '../conformance/support/hooks.ts';
import { control } from '../conformance/support/sandbox-world.ts';
import { type Collector, startCollector } from '../support/collector.ts';

const FOLDER = new URL('../../deploy/observability/tracing/', import.meta.url).pathname;
const SERVER = 2;
/** What is installed comes from a registry. */
const INSTALL_LIMIT_MS = 10 * 60_000;

describe('with the tracer of deploy/observability/tracing', () => {
  let collector: Collector;
  let scene: HookScene;
  beforeAll(async () => {
    const ci = ['ci', '--prefix', FOLDER, '--workspaces=false', '--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund'];
    await promisify(execFile)('npm', ci);
    collector = await startCollector();
    scene = await openHookScene({
      LOG_LEVEL: 'debug',
      NODE_OPTIONS: `--import=${FOLDER}register.mjs`,
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_BSP_SCHEDULE_DELAY: '50',
    });
  }, INSTALL_LIMIT_MS);
  afterAll(async () => {
    await scene?.close();
    collector?.close();
  });

  const traceIdOf = async (requestId: string | null): Promise<string> => {
    for (;;) {
      const line = scene.sandbox
        .errors()
        .split('\n')
        .find((one) => one.includes(`"request_id":"${requestId}"`));
      if (line !== undefined) return JSON.parse(line).trace_id;
      await new Promise(setImmediate);
    }
  };

  it('a request through gateway, identity and service is one trace of spans that are connected, under the ids of the log', async () => {
    const { person } = await scene.subscriber();
    const answer = await send(scene.sandbox.url, '/v1/bubbles?limit=1', { as: person.pat });
    expect(answer.status).toBe(200);
    const traceId = await traceIdOf(answer.headers.get('x-request-id'));
    const found = await collector.spansOf(traceId, ['GET /v1/bubbles', 'POST /internal/v1/checks', 'GET /v1/bubbles']);
    const [root, ...others] = found.filter(({ parentSpanId }) => parentSpanId === undefined);
    expect([root?.name, root?.kind, others]).toEqual(['GET /v1/bubbles', SERVER, []]);
    const below = found.filter(({ parentSpanId }) => parentSpanId === root?.spanId).map(({ name }) => name);
    expect(below.toSorted()).toEqual(['GET /v1/bubbles', 'POST /internal/v1/checks']);
    const known = new Set(found.map(({ spanId }) => spanId));
    for (const { parentSpanId, startTimeUnixNano, endTimeUnixNano } of found) {
      expect(parentSpanId === undefined || known.has(parentSpanId)).toBe(true);
      expect(BigInt(endTimeUnixNano)).toBeGreaterThanOrEqual(BigInt(startTimeUnixNano));
    }
    expect(new Set(collector.spans.map(({ service }) => service))).toEqual(new Set(['sandbox']));
  });

  it('a recording, its events and the webhook of it are one trace', async () => {
    const subscriber = await scene.subscriber();
    const traceId = 'c0ffee00c0ffee00c0ffee00c0ffee00';
    await fetch(`${scene.sandbox.url}/_sandbox/bubbles`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', traceparent: `00-${traceId}-00f067aa0ba902b7-01` },
      body: JSON.stringify({ type: 'screen_recording', team_id: subscriber.team.id, participant_ids: [subscriber.person.id] }),
    });
    await control(scene.sandbox.url, 'POST /settle');
    expect(subscriber.receiver.received).toHaveLength(1);
    const names = ['attempt webhook', 'process bubbles.bubble.ready.v1'];
    expect((await collector.spansOf(traceId, names)).map(({ name }) => name)).toEqual(expect.arrayContaining(names));
  });
});
