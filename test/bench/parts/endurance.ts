import { type Child, startChild } from '../harness/children.ts';
import { makeKeys } from '../harness/credentials.ts';
import { type LoadGenerator, startLoadGenerator } from '../harness/load.ts';
import type { Cell, Part, Table, Verdict } from '../harness/part.ts';
import { openFilesOf } from '../harness/process-figures.ts';
import { median, pairedRatio } from '../harness/statistics.ts';
import type { CrowdTask } from '../processes/crowd.ts';
import type { DocumentFigures } from '../processes/document.ts';

/** Needs no credential. */
const PATH = '/.well-known/oauth-protected-resource';
const DOCUMENT = '/v1/openapi.json';
const BODY = JSON.stringify({ id: 'user-1', name: 'Ada', email: null, picture_url: null });
const KB_PER_MB = 1024;
/** Until closed sockets are gone from the process. */
const SETTLE_MS = 2500;

type Url = { readonly url: string };

interface Scene {
  readonly gateway: Child<Url>;
  readonly koa: Child<Url>;
  readonly crowd: Child<unknown>;
  readonly load: LoadGenerator;
  readonly seconds: number;
}

const most = (target: string, what: string, figure: number, limit: number): Verdict => ({ target, what, figure, limit, wanted: 'most' });
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const send = ({ crowd }: Scene, task: CrowdTask): Promise<unknown> => crowd.ask(task);

const livePace = async ({ load, gateway, seconds }: Scene): Promise<number> => {
  const { p50, others } = await load.run({ origin: gateway.ready.url, requests: [{ path: PATH }], connections: 8, seconds });
  if (Object.keys(others).length > 0) throw new Error(`the gateway answers ${JSON.stringify(others)}`);
  return p50;
};

interface Finding {
  readonly rows: readonly (readonly Cell[])[];
  readonly verdicts: readonly Verdict[];
}

const aborted = async (scene: Scene, requests: number): Promise<Finding> => {
  const { gateway } = scene;
  await livePace(scene);
  const before = openFilesOf(gateway.pid);
  const sizes: number[] = [];
  for (let quarter = 0; quarter < 4; quarter += 1) {
    await send(scene, { kind: 'aborted', origin: gateway.ready.url, path: PATH, requests: requests / 4 });
    sizes.push(gateway.memory().rssMb);
  }
  await pause(SETTLE_MS);
  const left = openFilesOf(gateway.pid) - before;
  return {
    rows: [
      ['aborted requests', requests, null],
      ['MB resident after each quarter', sizes.map(Math.round).join(' '), null],
      ['open files more than before', left, null],
    ],
    verdicts: [
      most(
        'T12',
        `${requests} aborted requests: MB resident`,
        sizes.reduce((most, size) => Math.max(most, size)),
        220,
      ),
      most('T12', `${requests} aborted requests: open files left over`, Math.max(0, left), 5),
    ],
  };
};

const idle = async (scene: Scene, connections: number): Promise<Finding> => {
  const { gateway } = scene;
  const [before, paceBefore] = [gateway.memory().rssMb, await livePace(scene)];
  await send(scene, { kind: 'idle', origin: gateway.ready.url, path: PATH, connections });
  await pause(SETTLE_MS);
  const after = gateway.memory().rssMb;
  const slower = (await livePace(scene)) / paceBefore;
  const each = ((after - before) * KB_PER_MB) / connections;
  return {
    rows: [
      ['idle connections', connections, null],
      ['kB each', each, null],
      ['p50 beside them / without', slower, null],
    ],
    verdicts: [
      most('T11', `${connections} idle connections: kB each`, each, 16),
      most('T11', `${connections} idle connections: MB resident`, after, 250),
      most('T11', `${connections} idle connections: p50 beside them / without`, slower, 1.5),
    ],
  };
};

const document = async ({ gateway, koa, load, seconds }: Scene): Promise<Finding> => {
  const child = await startChild<DocumentFigures>({ module: 'processes/document.ts' });
  const { bytes, mergeMs, renderUs } = child.ready;
  await child.stop();
  const answer = await fetch(`${gateway.ready.url}${DOCUMENT}`);
  await answer.arrayBuffer();
  const known = { 'if-none-match': answer.headers.get('etag') ?? '', 'accept-encoding': 'gzip' };
  const [hello, unchanged]: [number[], number[]] = [[], []];
  const cpuUs = async (child: Child<Url>, path: string, headers = {}) => {
    const before = child.cpuMs();
    const { answered, others } = await load.run({ origin: child.ready.url, requests: [{ path, headers }], connections: 32, seconds });
    return ((child.cpuMs() - before) * 1000) / (answered + (others[304] ?? 0));
  };
  for (let round = -1; round < 3; round += 1) {
    const [own, bare] = [await cpuUs(gateway, DOCUMENT, known), await cpuUs(koa, '/')];
    if (round >= 0) [unchanged.push(own), hello.push(bare)];
  }
  const ratio = pairedRatio(unchanged, hello);
  return {
    rows: [
      ['document, bytes', bytes, null],
      ['merge, ms', mergeMs, null],
      ['render for an origin, us', renderUs, null],
      ['304, CPU us', median(unchanged), ratio],
    ],
    verdicts: [
      most('T15', 'document: ms of a merge', mergeMs, 20),
      most('T15', 'document: us to render for an origin', renderUs, 10),
      most('T15', 'document: CPU of a 304 / hello of Koa', ratio, 1.5),
    ],
  };
};

/** The gateway under many who keep silent, many who leave, and its own document. */
export const endurance: Part = async ({ quick, large }) => {
  const effort = quick ? 0 : large ? 2 : 1;
  const upstream = await startChild<Url>({ module: 'processes/raw-upstream.ts', settings: { bodies: { [PATH]: BODY } } });
  const gateway = await startChild<Url>({
    module: 'processes/gateway.ts',
    settings: { upstreams: `identity-and-oauth=${upstream.ready.url}`, serviceKey: makeKeys().own.gateway },
  });
  const koa = await startChild<Url>({ module: 'processes/bare-koa.ts', settings: { bodies: { '/': 'hello' } } });
  const crowd = await startChild({ module: 'processes/crowd.ts' });
  const load = await startLoadGenerator();
  const scene = { gateway, koa, crowd, load, seconds: quick ? 0.4 : 1.5 };
  const findings = [
    await aborted(scene, [4_000, 30_000, 100_000][effort] ?? 0),
    await idle(scene, quick ? 2_000 : 10_000),
    await document(scene),
  ];
  await Promise.all([load, crowd, koa, gateway, upstream].map((child) => child.stop()));
  const table: Table = { title: 'The gateway', columns: ['what', 'figure', 'x hello'], rows: findings.flatMap(({ rows }) => rows) };
  return { tables: [table], verdicts: findings.flatMap(({ verdicts }) => verdicts), notes: [] };
};
