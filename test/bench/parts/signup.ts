import { createPrivateKey } from 'node:crypto';
import { serviceTokens } from '@bubbles/auth/service-tokens.ts';
import { CreatedAccount } from '@bubbles/contracts/internal/identity.ts';
import { OPERATOR } from '@bubbles/contracts/services.ts';
import { createInternalClient } from '@bubbles/http/client/internal-client.ts';
import { systemClock } from '@bubbles/kernel/clock.ts';
import { z } from 'zod';
import { type Child, startChild } from '../harness/children.ts';
import { type Keys, makeKeys, TEAM_ID } from '../harness/credentials.ts';
import type { Part, Table, Verdict } from '../harness/part.ts';
import { median, pairedRatio, percentile } from '../harness/statistics.ts';
import { startIdentity } from '../harness/world.ts';

type Started = Child<{ readonly url: string }>;

const ACCOUNTS = 200;
/** What an account may have. */
const KEYS_PER_ACCOUNT = 10;

/** Sessions of people who may make API keys. */
const sessionsOf = async (
  keys: Keys,
  { identityUrl, count }: { readonly identityUrl: string; readonly count: number },
): Promise<readonly string[]> => {
  const key = createPrivateKey({ key: Buffer.from(keys.own[OPERATOR], 'base64'), format: 'der', type: 'pkcs8' });
  const tokens = serviceTokens({ caller: OPERATOR, key, clock: systemClock() });
  const identity = createInternalClient({ callee: 'identity-and-oauth', baseUrls: [identityUrl], tokens });
  const sessions: string[] = [];
  for (let n = 0; n < count; n += 1) {
    const body = { name: 'Maker', email: `maker${n}@acme.test`, picture_url: null, key_name: null };
    const { account, session } = await identity.post('/internal/v1/admin/accounts', { body, schema: CreatedAccount });
    const path = `/internal/v1/admin/teams/${TEAM_ID}/members/${account.user_id}`;
    await identity.send('PUT', path, { body: { role: 'member' }, schema: z.unknown() });
    sessions.push(session.session_token);
  }
  await identity.close();
  return sessions;
};

const startPath = async (flows: number) => {
  const keys = makeKeys();
  const identity = await startIdentity(keys, { accounts: ACCOUNTS });
  const identityUrl = identity.ready.url;
  const start = async (mailHangs: boolean) => {
    const settings = { callers: keys.callers, identityUrl, serviceKey: keys.own.signup, mailHangs };
    const signup: Started = await startChild({ module: 'processes/signup.ts', settings });
    const upstreams = `identity-and-oauth=${identityUrl};signup=${signup.ready.url}`;
    const gateway: Started = await startChild({ module: 'processes/gateway.ts', settings: { upstreams, serviceKey: keys.own.gateway } });
    return { signup, gateway, url: gateway.ready.url };
  };
  const [usual, hanging] = [await start(false), await start(true)];
  const all = [usual.gateway, hanging.gateway, usual.signup, hanging.signup, identity];
  return {
    ...usual,
    hangingUrl: hanging.url,
    sessions: await sessionsOf(keys, { identityUrl, count: Math.ceil(flows / KEYS_PER_ACCOUNT) }),
    stop: () => Promise.all(all.map((child) => child.stop())),
  };
};
type Path = Awaited<ReturnType<typeof startPath>>;

interface Answered {
  readonly ms: number;
  // biome-ignore lint/suspicious/noExplicitAny: the service has proved the answer.
  readonly body: any;
}

const post = async (url: string, body: object, headers: Readonly<Record<string, string>> = {}): Promise<Answered> => {
  const began = performance.now();
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  const ms = performance.now() - began;
  if (!response.ok) throw new Error(`${url}: ${response.status} ${text}`);
  return { ms, body: JSON.parse(text) };
};

type Times = Map<string, number[]>;
const note = (times: Times, name: string, ms: number): void => void times.set(name, [...(times.get(name) ?? []), ms]);
const timesOf = (times: Times, name: string): readonly number[] => times.get(name) ?? [];

const tableOf = (title: string, times: Times, baseline: string): Table => ({
  title,
  columns: ['request', 'p50 ms', 'p99 ms', `x ${baseline}`],
  rows: [...times].map(([name, values]) => [
    name,
    median(values),
    percentile(values, 0.99),
    median(values) / median(timesOf(times, baseline)),
  ]),
});
const most = (what: string, figure: number, limit: number): Verdict => ({ target: 'Signup', what, figure, limit, wanted: 'most' });

const WARM = 100;
const [UNKNOWN, KNOWN, HANGING] = ['address without an account', 'address with an account', 'mail server that hangs'];

/** One after the other in turn, so that what disturbs the machine disturbs all of them. */
const starts = async ({ url, hangingUrl }: Path, samples: number) => {
  const times: Times = new Map();
  for (let n = -WARM; n < samples; n += 1) {
    const subjects = [
      [UNKNOWN, url, `nobody${n}@acme.test`],
      [KNOWN, url, `person${Math.abs(n) % ACCOUNTS}@acme.test`],
      [HANGING, hangingUrl, `nobody${n}@acme.test`],
    ] as const;
    // Each is the first one of a turn as often as the others.
    for (let turn = 0; turn < subjects.length; turn += 1) {
      const [name = '', origin, email] = subjects[(turn + Math.abs(n)) % subjects.length] ?? subjects[0];
      const { ms } = await post(`${origin}/v1/signup/start`, { email });
      if (n >= 0) note(times, name, ms);
    }
  }
  const ratio = (name: string) => median(timesOf(times, name)) / median(timesOf(times, UNKNOWN));
  return {
    table: tableOf('POST /v1/signup/start through the gateway, one at a time', times, UNKNOWN),
    verdicts: [
      most('how far start is from the other, known and unknown addresses: |median / median - 1|', Math.abs(ratio(KNOWN) - 1), 0.05),
      most('start with a mail server that hangs / start', ratio(HANGING), 1.1),
    ],
  };
};

const KEY = 'POST /v1/api-keys';

const steps = async ({ url, signup, sessions }: Path, flows: number) => {
  const times: Times = new Map();
  for (let n = 0; n < flows; n += 1) {
    const email = `flow@acme-${n}.test`;
    const counts = n >= flows / 10;
    const timed = async (name: string, path: string, body: object, headers = {}): Promise<Answered['body']> => {
      const { ms, body: answer } = await post(`${url}${path}`, body, headers);
      if (counts) note(times, name, ms);
      return answer;
    };
    const authorization = `Bearer ${sessions[Math.floor(n / KEYS_PER_ACCOUNT)]}`;
    await timed(KEY, '/v1/api-keys', { name: 'key' }, { authorization });
    const { signup_session } = await timed('start', '/v1/signup/start', { email });
    const code = await signup.ask<string>({ codeOf: email });
    await timed('verify', '/v1/signup/verify', { signup_session, code });
    await timed('workspaces', '/v1/signup/workspaces', { signup_session });
    await timed('workspace', '/v1/signup/workspace', { signup_session, action: 'create', workspace_name: 'Acme' });
    await timed('calendar', '/v1/signup/calendar', { signup_session });
  }
  const ratio = (name: string) => pairedRatio(timesOf(times, name), timesOf(times, KEY));
  return {
    table: tableOf('Steps through the gateway, one at a time', times, KEY),
    verdicts: ['start', 'verify', 'workspaces', 'workspace', 'calendar'].map((name) => most(`p50 of ${name} / ${KEY}`, ratio(name), 1.5)),
  };
};

interface Lists {
  readonly megabytes: number;
  readonly loadMs: number;
  readonly microseconds: readonly number[];
}

const domains = async (rounds: number) => {
  const child = await startChild<Lists>({ module: 'processes/domain-lists.ts', settings: { rounds }, nodeArguments: ['--expose-gc'] });
  const { megabytes, loadMs, microseconds } = child.ready;
  await child.stop();
  const us = median(microseconds);
  return {
    table: { title: 'Lists of mail domains', columns: ['look-up us', 'MB', 'loaded in ms'], rows: [[us, megabytes, loadMs]] },
    verdicts: [most('a look-up of a domain, us', us, 20), most('the lists, MB', megabytes, 15)],
  };
};

/** What signup costs, and whether start tells addresses apart by its time. */
export const signup: Part = async ({ quick }) => {
  const flows = quick ? 100 : 400;
  const path = await startPath(flows);
  const measured = [await starts(path, quick ? 200 : 1000), await steps(path, flows)];
  await path.stop();
  measured.push(await domains(quick ? 5 : 25));
  return {
    tables: measured.map(({ table }) => table),
    verdicts: measured.flatMap(({ verdicts }) => verdicts),
    notes: ['`npm run bench -- sandbox` measures the cold start of the service.'],
  };
};
