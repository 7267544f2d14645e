import { createHmac, randomBytes } from 'node:crypto';
import { type Child, startChild } from '../harness/children.ts';
import { makeKeys } from '../harness/credentials.ts';
import { type LoadFigures, type LoadRequest, startLoadGenerator } from '../harness/load.ts';
import type { Outcome } from '../harness/part.ts';
import { median, pairedRatio } from '../harness/statistics.ts';
import type { ServiceReady } from '../processes/serve-service.ts';

const RUNNING_JOINS = 500;
const CONNECTIONS = 64;
/** More than either can take in a round. */
const MOST_PER_SECOND = 12_000;
const NOBODY = 'http://127.0.0.1:9';
const SECRET = randomBytes(32);
const MS = 1000;

let told = 0;
/** Signed as Recall.ai does (Standard Webhooks), each another event of one of the joins. */
const webhook = (path: string): LoadRequest => {
  told += 1;
  const id = `msg_${told}`;
  const timestamp = Math.floor(Date.now() / MS);
  const bot = { id: `run-of-mj_${told % RUNNING_JOINS}`, metadata: { join_id: `mj_${told % RUNNING_JOINS}` } };
  const state = { code: 'in_call_recording', sub_code: null, updated_at: '2026-11-27T10:00:00.000000+00:00' };
  const body = JSON.stringify({ event: 'bot.in_call_recording', data: { data: state, bot } });
  const signature = createHmac('sha256', SECRET).update(`${id}.${timestamp}.${body}`).digest('base64');
  const headers = {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': `v1,${signature}`,
  };
  return { method: 'POST', path, headers, body };
};

/** Webhooks of a provider, beside a bare Koa that checks the same signature and inserts one document. */
export const events = async (quick: boolean): Promise<Outcome> => {
  const [rounds, seconds] = quick ? [2, 0.5] : [7, 0.7];
  const secret = SECRET.toString('base64');
  const { callers, own } = makeKeys();
  const service: Child<ServiceReady<readonly string[]>> = await startChild({
    module: 'processes/meetings.ts',
    settings: { callers, identityUrl: NOBODY, serviceKey: own['meetings-bot-gateway'], provider: { joins: RUNNING_JOINS, secret } },
  });
  const koa: Child<{ readonly url: string }> = await startChild({ module: 'processes/bare-webhooks.ts', settings: { secret } });
  const load = await startLoadGenerator();
  const subjects = [
    { name: 'bare Koa', child: koa, origin: koa.ready.url, path: '/' },
    { name: 'gateway of meetings', child: service, origin: service.ready.url, path: '/hooks/notetakers/recall' },
  ];
  const figures = subjects.map((): LoadFigures[] => []);
  const cpu = subjects.map((): number[] => []);
  for (let round = -2; round < rounds; round += 1)
    for (const [at, { name, child, origin, path }] of subjects.entries()) {
      const requests = Array.from({ length: Math.ceil(MOST_PER_SECOND * seconds) }, () => webhook(path));
      const before = child.cpuMs();
      const measured = await load.run({ origin, requests, connections: CONNECTIONS, seconds });
      if (Object.keys(measured.others).length > 0) throw new Error(`${name}: answers ${JSON.stringify(measured.others)}`);
      if (round < 0) continue;
      figures[at]?.push(measured);
      cpu[at]?.push(((child.cpuMs() - before) * MS) / measured.answered);
    }
  await Promise.all([load.stop(), koa.stop(), service.stop()]);
  const rates = figures.map((of) => of.map(({ perSecond }) => perSecond));
  const ratioOf = (at: number) => pairedRatio(rates[at] ?? [], rates[0] ?? []);
  return {
    tables: [
      {
        title: `Webhooks of a provider about ${RUNNING_JOINS} joins, ${CONNECTIONS} at once`,
        columns: ['of', 'a second', 'x bare Koa', 'CPU us'],
        rows: subjects.map(({ name }, at) => [name, median(rates[at] ?? []), ratioOf(at), median(cpu[at] ?? [])]),
      },
    ],
    verdicts: [{ target: 'Meetings', what: 'webhooks of a provider a second / bare Koa', figure: ratioOf(1), limit: 0.4, wanted: 'least' }],
    notes: [],
  };
};
