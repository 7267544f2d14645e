import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeKeys } from '../harness/credentials.ts';
import { freePort } from '../harness/free-port.ts';
import type { Cell, Part, Verdict } from '../harness/part.ts';
import type { Memory } from '../harness/process-figures.ts';
import { answers, type StartedProcess, startProcess } from '../harness/started-process.ts';
import { median } from '../harness/statistics.ts';

/** Long enough for what a start leaves behind to be collected and the polls to have run once. */
const REST_MS = 4000;
const SHORT_REST_MS = 1500;
const KEY = Buffer.alloc(32, 7).toString('base64');
/** Nobody listens there: a service starts without its store and broker, and waits for them. */
const NOWHERE = { MONGODB_URL: 'mongodb://127.0.0.1:9', AMQP_URL: 'amqp://127.0.0.1:9' };

type Environment = Readonly<Record<string, string>>;

interface Subject {
  readonly name: string;
  readonly start: () => Promise<StartedProcess>;
  /** The first request; null where it is the start itself that waits for an answer. */
  readonly first: ((process: StartedProcess) => Promise<void>) | null;
}

interface Start {
  readonly startMs: number;
  readonly firstMs: number | null;
  readonly memory: Memory;
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** One after the other, since each may have the machine for its start; then all rest together. */
const startAll = async (subjects: readonly Subject[], restMs: number): Promise<readonly Start[]> => {
  const started: { process: StartedProcess; firstMs: number | null }[] = [];
  for (const { start, first } of subjects) {
    const process = await start();
    const began = performance.now();
    await first?.(process);
    started.push({ process, firstMs: first === null ? null : performance.now() - began });
  }
  await pause(restMs);
  const starts = started.map(({ process, firstMs }) => ({ startMs: process.startMs, firstMs, memory: process.memory() }));
  for (const { process } of started) await process.stop();
  return starts;
};

const bareNode: Subject = {
  name: 'bare node:http',
  first: null,
  start: async () => {
    const port = await freePort();
    const program = `require('node:http').createServer((_, res) => res.end('ok')).listen(${port}, '127.0.0.1')`;
    return startProcess({ arguments: ['-e', program], environment: {}, isUp: () => answers(`http://127.0.0.1:${port}/`) });
  },
};

const ask = async (path: string, { output }: StartedProcess): Promise<void> => {
  const [, url = ''] = /Listening on (\S+)/.exec(output) ?? [];
  const [, token = ''] = /Bearer (\S+?)"/.exec(output) ?? [];
  if (!(await answers(`${url}${path}`, 200, { authorization: `Bearer ${token}` }))) throw new Error(`${path} was not answered`);
};

/** Where the code of the processes is kept compiled, null for nowhere: each then strips its types and compiles at every start. */
type CodeCache = string | null;

const CACHED = ', code kept compiled';
const nameWith = (name: string, cache: CodeCache): string => (cache === null ? name : `${name}${CACHED}`);
const cached = (cache: CodeCache): Environment => (cache === null ? {} : { NODE_COMPILE_CACHE: cache });

const SANDBOX = 'npm start';

const sandbox = (cache: CodeCache): Subject => ({
  name: nameWith(SANDBOX, cache),
  first: (process) => ask('/v1/bubbles', process),
  start: () =>
    startProcess({
      arguments: ['deploy/sandbox/src/main.ts', '--data', ':memory:'],
      environment: { ...cached(cache), PORT: '0' },
      isUp: (output) => output.includes('Listening on'),
    }),
});

const engines = (): Environment => {
  const { MONGODB_URL, AMQP_URL } = process.env;
  return MONGODB_URL === undefined || AMQP_URL === undefined ? NOWHERE : { MONGODB_URL, AMQP_URL };
};
const haveEngines = (): boolean => engines() !== NOWHERE;

const keys = makeKeys();
const COMMON: Environment = { HOST: '127.0.0.1', OPS_HOST: '127.0.0.1', LOG_LEVEL: 'warn', CALLER_KEYS: keys.callers };
const IDENTITY_URLS = 'http://127.0.0.1:9';

const ENVIRONMENTS: Readonly<Record<string, Environment>> = {
  gateway: { SERVICE_KEY: keys.own.gateway, UPSTREAMS: 'identity-and-oauth=http://127.0.0.1:9;bubbles-query=http://127.0.0.1:9' },
  'identity-and-oauth': {
    PUBLIC_BASE_URL: 'https://api.test',
    SEAL_KEYS: `k1=${KEY}`,
    SMTP_URL: 'smtp://127.0.0.1:9',
    MAIL_FROM: 'no-reply@api.test',
    WEBHOOKS_DISPATCHER_URLS: IDENTITY_URLS,
    SERVICE_KEY: keys.own['identity-and-oauth'],
  },
  'bubbles-query': {
    PUBLIC_BASE_URL: 'https://api.test',
    APP_BASE_URL: 'https://app.test',
    CURSOR_KEY: KEY,
    PERSON_KEY: KEY,
    IDENTITY_URLS,
    SERVICE_KEY: keys.own['bubbles-query'],
  },
  'webhooks-dispatcher': {
    PUBLIC_BASE_URL: 'https://api.test',
    APP_BASE_URL: 'https://app.test',
    SEAL_KEYS: `k1=${KEY}`,
    CURSOR_KEY: KEY,
    IDENTITY_URLS,
    BUBBLES_QUERY_URLS: IDENTITY_URLS,
    SERVICE_KEY: keys.own['webhooks-dispatcher'],
    HEADER_NAME: 'Service',
    USER_AGENT: 'bench/1',
  },
  signup: {
    PUBLIC_BASE_URL: 'https://api.test',
    SEAL_KEYS: `k1=${KEY}`,
    SMTP_URL: 'smtp://127.0.0.1:9',
    MAIL_FROM: 'no-reply@api.test',
    IDENTITY_URLS,
    SERVICE_KEY: keys.own.signup,
  },
};

/** A process of production, up when it can be asked: ready where there are engines, listening with its configuration read where there are none. */
const service = (name: string, cache: CodeCache): Subject => ({
  name: nameWith(name, cache),
  first: null,
  start: async () => {
    const [port, opsPort] = [await freePort(), await freePort()];
    const page = haveEngines() || name === 'gateway' ? 'readyz' : 'startupz';
    return startProcess({
      arguments: [`services/${name}/src/main.ts`],
      environment: { ...cached(cache), ...COMMON, ...engines(), ...ENVIRONMENTS[name], PORT: String(port), OPS_PORT: String(opsPort) },
      isUp: () => answers(`http://127.0.0.1:${opsPort}/${page}`),
    });
  },
});

const most = (target: string, what: string, figure: number, limit: number): Verdict => ({ target, what, figure, limit, wanted: 'most' });

const verdictsOf = (name: string, { startMs, firstMs, memory }: Start): readonly Verdict[] => {
  if (name === bareNode.name) return [];
  if (name.startsWith(SANDBOX))
    return [most('T10', `${name}: ms until it answers`, startMs, 1500), most('T10', `${name}: ms of the first request`, firstMs ?? 0, 20)];
  const [rss, own] = name.startsWith('gateway') ? [115, 45] : [115, 55];
  return [
    most('T9', `${name}: MB resident`, memory.rssMb, rss),
    most('T9', `${name}: MB private`, memory.privateMb, own),
    most('T10', `${name}: ms until it answers`, startMs, 300),
  ];
};

const middle = (starts: readonly Start[]): Start => {
  const of = (read: (start: Start) => number) => median(starts.map(read));
  return {
    startMs: of(({ startMs }) => startMs),
    firstMs: starts[0]?.firstMs == null ? null : of(({ firstMs }) => firstMs ?? 0),
    memory: {
      rssMb: of(({ memory }) => memory.rssMb),
      pssMb: of(({ memory }) => memory.pssMb),
      privateMb: of(({ memory }) => memory.privateMb),
    },
  };
};

const STACK_PSS_MB = 400;
const STACK_SIZE = 7;

/** What the processes of a whole stack would take, were the others like those that there are. */
const stackVerdict = (results: readonly (readonly [string, Start])[]): Verdict => {
  const kept = results.filter(([name]) => name.endsWith(CACHED) && !name.startsWith(SANDBOX)).map(([, { memory }]) => memory.pssMb);
  const figure = (kept.reduce((sum, mb) => sum + mb, 0) / kept.length) * STACK_SIZE;
  return most('T9', `${STACK_SIZE} processes${CACHED}: MB PSS`, figure, STACK_PSS_MB);
};

const measureAll = async (rounds: number, restMs: number): Promise<readonly (readonly [string, Start])[]> => {
  const folder = mkdtempSync(join(tmpdir(), 'bench-code-'));
  const all = (cache: CodeCache) => [sandbox(cache), ...Object.keys(ENVIRONMENTS).map((name) => service(name, cache))];
  await startAll(all(folder), 0);
  const subjects = [bareNode, ...all(null), ...all(folder)];
  const measured: (readonly Start[])[] = [];
  for (let round = 0; round < rounds; round += 1) measured.push(await startAll(subjects, restMs));
  rmSync(folder, { recursive: true });
  return subjects.map(({ name }, at) => [name, middle(measured.flatMap((starts) => starts[at] ?? []))]);
};

/** Cold start and memory at rest of everything that is run, against a Node that serves one word. */
export const sandboxPart: Part = async ({ quick }) => {
  const results = await measureAll(quick ? 1 : 3, quick ? SHORT_REST_MS : REST_MS);
  const base = results[0]?.[1];
  const rows = results.map(([name, { startMs, firstMs, memory }]): readonly Cell[] => [
    name,
    startMs,
    startMs / (base?.startMs ?? Number.NaN),
    firstMs,
    memory.rssMb,
    memory.rssMb / (base?.memory.rssMb ?? Number.NaN),
    memory.pssMb,
    memory.privateMb,
  ]);
  const columns = ['process', 'start ms', 'x bare', 'first request ms', 'RSS MB', 'x bare', 'PSS MB', 'private MB'];
  const waiting = 'Without MONGODB_URL and AMQP_URL a service counts as started when it listens; it then waits for its engines.';
  return {
    tables: [{ title: 'Cold start, and memory at rest', columns, rows }],
    verdicts: [...results.flatMap(([name, start]) => verdictsOf(name, start)), stackVerdict(results)],
    notes: haveEngines() ? [] : [waiting],
  };
};
