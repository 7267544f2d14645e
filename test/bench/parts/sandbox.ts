import { makeKeys } from '../harness/credentials.ts';
import { freePort } from '../harness/free-port.ts';
import type { Cell, Part, Verdict } from '../harness/part.ts';
import type { Memory } from '../harness/process-figures.ts';
import { answers, type StartedProcess, startProcess } from '../harness/started-process.ts';
import { median } from '../harness/statistics.ts';

/** Long enough for what a start leaves behind to be collected and the polls to have run once. */
const REST_MS = 4000;
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

const once = async ({ start, first }: Subject): Promise<Start> => {
  const process = await start();
  const began = performance.now();
  await first?.(process);
  const firstMs = first === null ? null : performance.now() - began;
  await pause(REST_MS);
  const memory = process.memory();
  await process.stop();
  return { startMs: process.startMs, firstMs, memory };
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

const sandbox: Subject = {
  name: 'npm start (all in one)',
  first: (process) => ask('/v1/bubbles', process),
  start: () =>
    startProcess({
      arguments: ['deploy/sandbox/src/main.ts', '--data', ':memory:'],
      environment: { PORT: '0' },
      isUp: (output) => output.includes('Listening on'),
    }),
};

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
  'identity-and-oauth': { PUBLIC_BASE_URL: 'https://api.test', SEAL_KEYS: `k1=${KEY}` },
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
    SEAL_KEYS: `k1=${KEY}`,
    CURSOR_KEY: KEY,
    IDENTITY_URLS,
    BUBBLES_QUERY_URLS: IDENTITY_URLS,
    SERVICE_KEY: keys.own['webhooks-dispatcher'],
    HEADER_NAME: 'Service',
    USER_AGENT: 'bench/1',
  },
};

/** A process of production, up when it can be asked: ready where there are engines, listening with its configuration read where there are none. */
const service = (name: string): Subject => ({
  name,
  first: null,
  start: async () => {
    const [port, opsPort] = [await freePort(), await freePort()];
    const page = haveEngines() || name === 'gateway' ? 'readyz' : 'startupz';
    return startProcess({
      arguments: [`services/${name}/src/main.ts`],
      environment: { ...COMMON, ...engines(), ...ENVIRONMENTS[name], PORT: String(port), OPS_PORT: String(opsPort) },
      isUp: () => answers(`http://127.0.0.1:${opsPort}/${page}`),
    });
  },
});

const most = (target: string, what: string, figure: number, limit: number): Verdict => ({ target, what, figure, limit, wanted: 'most' });

const verdictsOf = (name: string, { startMs, firstMs, memory }: Start): readonly Verdict[] => {
  if (name === bareNode.name) return [];
  if (name === sandbox.name)
    return [
      most('T10', 'npm start: ms until it answers', startMs, 1500),
      most('T10', 'npm start: ms of the first request', firstMs ?? 0, 20),
    ];
  const [rss, own] = name === 'gateway' ? [95, 45] : [105, 55];
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

const ROUNDS = { quick: 1, full: 3 };

/** Cold start and memory at rest of everything that is run, against a Node that serves one word. */
export const sandboxPart: Part = async ({ quick }) => {
  const subjects = [bareNode, sandbox, ...Object.keys(ENVIRONMENTS).map(service)];
  const starts = new Map<string, Start[]>();
  for (let round = 0; round < (quick ? ROUNDS.quick : ROUNDS.full); round += 1)
    for (const subject of subjects) starts.set(subject.name, [...(starts.get(subject.name) ?? []), await once(subject)]);
  const base = middle(starts.get(bareNode.name) ?? []);
  const results = [...starts].map(([name, all]) => [name, middle(all)] as const);
  const rows = results.map(([name, { startMs, firstMs, memory }]): readonly Cell[] => [
    name,
    startMs,
    startMs / base.startMs,
    firstMs,
    memory.rssMb,
    memory.rssMb / base.memory.rssMb,
    memory.pssMb,
    memory.privateMb,
  ]);
  const columns = ['process', 'start ms', 'x bare', 'first request ms', 'RSS MB', 'x bare', 'PSS MB', 'private MB'];
  const waiting = 'Without MONGODB_URL and AMQP_URL a service counts as started when it listens; it then waits for its engines.';
  return {
    tables: [{ title: 'Cold start, and memory at rest', columns, rows }],
    verdicts: results.flatMap(([name, start]) => verdictsOf(name, start)),
    notes: haveEngines() ? [] : [waiting],
  };
};
