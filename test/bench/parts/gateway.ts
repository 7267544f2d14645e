import { installBenchPackages } from '../harness/bench-packages.ts';
import { type Child, startChild } from '../harness/children.ts';
import { makeKeys } from '../harness/credentials.ts';
import { type LoadFigures, type LoadGenerator, type LoadRequest, startLoadGenerator } from '../harness/load.ts';
import { haveNginx, startNginx } from '../harness/nginx.ts';
import type { Cell, Part, Verdict } from '../harness/part.ts';
import { median, pairedRatio } from '../harness/statistics.ts';
import { startIdentity, tokensOf } from '../harness/world.ts';

const SMALL = JSON.stringify({ id: 'user-1', name: 'Ada', email: 'ada@acme.test', picture_url: null });
const LARGE = JSON.stringify({
  data: Array.from({ length: 25 }, (_, n) => ({ id: `bubble-${n}`, summary: 'What was said. '.repeat(74) })),
});
/** Needs no credential. */
const SMALL_PATH = '/.well-known/oauth-protected-resource';
const LARGE_PATH = `${SMALL_PATH}?large`;
/** Served by bubbles-query: the credential is checked. */
const CHECKED_PATH = '/v1/bubbles';
const BODIES = { [SMALL_PATH]: SMALL, [LARGE_PATH]: LARGE, [CHECKED_PATH]: SMALL };
const ACCOUNTS = 100;

type Url = { readonly url: string };

interface Subject {
  readonly name: string;
  readonly child: Child<Url>;
  readonly requests: readonly LoadRequest[];
}

interface Round extends LoadFigures {
  readonly cpuUs: number;
}

interface Scene {
  readonly title: string;
  /** The first is the baseline. */
  readonly subjects: readonly Subject[];
}

interface Plan {
  readonly rounds: number;
  readonly seconds: number;
}

const one = (path: string): readonly LoadRequest[] => [{ path }];

const measure = async (
  load: LoadGenerator,
  { name, child, requests }: Subject,
  shape: { connections: number; seconds: number },
): Promise<Round> => {
  const before = child.cpuMs();
  const figures = await load.run({ ...shape, origin: child.ready.url, requests });
  if (Object.keys(figures.others).length > 0) throw new Error(`${name}: answers ${JSON.stringify(figures.others)}`);
  return { ...figures, cpuUs: ((child.cpuMs() - before) * 1000) / figures.answered };
};

type Measured = ReadonlyMap<string, readonly Round[]>;

const measureScene = async (
  load: LoadGenerator,
  { subjects }: Scene,
  { rounds, seconds, connections }: Plan & { connections: number },
): Promise<Measured> => {
  const measured = new Map<string, Round[]>();
  for (let round = 0; round < rounds; round += 1)
    for (const subject of subjects) {
      const figures = await measure(load, subject, { connections, seconds });
      measured.set(subject.name, [...(measured.get(subject.name) ?? []), figures]);
    }
  return measured;
};

const figuresOf = (measured: Measured, name: string) => {
  const rounds = measured.get(name) ?? [];
  const of = (read: (round: Round) => number) => rounds.map(read);
  return { perSecond: of((r) => r.perSecond), cpuUs: of((r) => r.cpuUs), p50: of((r) => r.p50), p99: of((r) => r.p99) };
};

const rowsOf = ({ title, subjects }: Scene, connections: number, measured: Measured): readonly (readonly Cell[])[] => {
  const base = figuresOf(measured, subjects[0]?.name ?? '');
  return subjects.map(({ name }) => {
    const own = figuresOf(measured, name);
    return [
      `${title}, c=${connections}`,
      name,
      median(own.perSecond),
      pairedRatio(own.perSecond, base.perSecond),
      median(own.cpuUs),
      pairedRatio(own.cpuUs, base.cpuUs),
      median(own.p50),
      median(own.p50) - median(base.p50),
      median(own.p99),
    ];
  });
};

interface Cast {
  readonly upstream: Child<Url>;
  readonly gateway: Child<Url>;
  readonly canned: Child<Url>;
  readonly unstored: Child<Url>;
  readonly checked: Child<Url>;
  readonly tokens: readonly string[];
  readonly nginx: Child<Url> | null;
  readonly nginxChecked: Child<Url> | null;
  readonly nodeProxy: Child<Url>;
  readonly httpProxy: Child<Url>;
  readonly fastifyProxy: Child<Url>;
  stop(): Promise<void>;
}

const startCast = async (): Promise<Cast> => {
  installBenchPackages();
  const keys = makeKeys();
  const upstream = await startChild<Url>({ module: 'processes/raw-upstream.ts', settings: { bodies: BODIES }, core: 'rest' });
  const silent = await startChild<Url>({ module: 'processes/raw-upstream.ts', settings: { bodies: {}, status: 204 }, core: 'rest' });
  const canned = await startChild<Url>({ module: 'processes/canned-identity.ts', settings: { body: SMALL }, core: 'rest' });
  const identity = await startIdentity(keys, { accounts: ACCOUNTS, core: 'rest' });
  const gateway = (identityUrl: string) =>
    startChild<Url>({
      module: 'processes/gateway.ts',
      core: 'measured',
      settings: { upstreams: `identity-and-oauth=${identityUrl};bubbles-query=${upstream.ready.url}`, serviceKey: keys.own.gateway },
    });
  const proxy = (module: string) => startChild<Url>({ module, core: 'measured', settings: { upstream: upstream.ready.url } });
  const nginx = (checks: string | null) => (haveNginx() ? startNginx({ upstream: upstream.ready.url, identity: checks }) : null);
  const cast = {
    upstream,
    canned,
    gateway: await gateway(upstream.ready.url),
    unstored: await gateway(canned.ready.url),
    checked: await gateway(identity.ready.url),
    nginx: await nginx(null),
    nginxChecked: await nginx(silent.ready.url),
    nodeProxy: await proxy('processes/node-proxy.ts'),
    httpProxy: await proxy('processes/http-proxy.mjs'),
    fastifyProxy: await proxy('processes/fastify-http-proxy.mjs'),
  };
  const all = [...Object.values(cast), silent, identity];
  return {
    ...cast,
    tokens: tokensOf(identity.ready.seeded),
    stop: async () => {
      await Promise.all(all.map((child) => child?.stop()));
    },
  };
};

const present = (name: string, child: Child<Url> | null, requests: readonly LoadRequest[]): readonly Subject[] =>
  child === null ? [] : [{ name, child, requests }];

const scenesOf = (cast: Cast) => {
  const { upstream, gateway, nginx, nginxChecked, nodeProxy, httpProxy, fastifyProxy, unstored, checked, tokens } = cast;
  const bearers = tokens.map((token) => ({ path: CHECKED_PATH, headers: { authorization: `Bearer ${token}` } }));
  const relay = (path: string, title: string, others: readonly Subject[]): Scene => ({
    title,
    subjects: [
      ...present('nginx', nginx, one(path)),
      { name: 'node:http proxy', child: nodeProxy, requests: one(path) },
      { name: 'gateway', child: gateway, requests: one(path) },
      ...others,
    ],
  });
  const direct = { name: 'upstream itself', child: upstream, requests: one(SMALL_PATH) };
  return {
    relay: relay(SMALL_PATH, 'relay', [
      { name: '@fastify/http-proxy', child: fastifyProxy, requests: one(SMALL_PATH) },
      { name: 'http-proxy', child: httpProxy, requests: one(SMALL_PATH) },
    ]),
    large: relay(LARGE_PATH, `relay of ${Math.round(LARGE.length / 1000)} kB`, []),
    checked: {
      title: 'with checks',
      subjects: [
        { name: 'gateway without', child: gateway, requests: one(SMALL_PATH) },
        { name: 'gateway, canned identity', child: unstored, requests: bearers },
        { name: 'gateway, identity', child: checked, requests: bearers },
        ...present('nginx auth_request', nginxChecked, bearers),
      ],
    },
    added: {
      title: 'added latency',
      subjects: [
        direct,
        ...present('nginx', nginx, one(SMALL_PATH)),
        { name: 'gateway', child: gateway, requests: one(SMALL_PATH) },
        { name: 'gateway, canned identity', child: unstored, requests: bearers },
        { name: 'gateway, identity', child: checked, requests: bearers },
      ],
    },
  } satisfies Readonly<Record<string, Scene>>;
};

const most = (target: string, what: string, figure: number, limit: number): Verdict => ({ target, what, figure, limit, wanted: 'most' });
const least = (target: string, what: string, figure: number, limit: number): Verdict => ({ target, what, figure, limit, wanted: 'least' });

const relayVerdicts = (measured: Measured): readonly Verdict[] => {
  const own = figuresOf(measured, 'gateway');
  const against = (name: string, field: 'perSecond' | 'cpuUs') => pairedRatio(own[field], figuresOf(measured, name)[field]);
  const nginx = haveNginx()
    ? [
        least('T1', 'relay: req/s of nginx', against('nginx', 'perSecond'), 0.6),
        most('T1', 'relay: CPU x nginx', against('nginx', 'cpuUs'), 3),
      ]
    : [];
  return [
    ...nginx,
    least('T3', 'relay: req/s x @fastify/http-proxy', against('@fastify/http-proxy', 'perSecond'), 1.4),
    least('T3', 'relay: req/s x http-proxy', against('http-proxy', 'perSecond'), 1.8),
  ];
};

const checkedVerdicts = (measured: Measured): readonly Verdict[] => {
  const own = figuresOf(measured, 'gateway, identity').perSecond;
  const against = (name: string) => pairedRatio(own, figuresOf(measured, name).perSecond);
  const nginx = haveNginx() ? [least('T2', 'checks: req/s of nginx auth_request', against('nginx auth_request'), 0.9)] : [];
  return [...nginx, least('T2', 'checks: req/s of the relay without', against('gateway without'), 0.6)];
};

const largeVerdicts = (busy: Measured, idle: Measured): readonly Verdict[] => {
  if (!haveNginx()) return [];
  const [own, nginx] = [figuresOf(busy, 'gateway'), figuresOf(busy, 'nginx')];
  const added = median(figuresOf(idle, 'gateway').p50) - median(figuresOf(idle, 'nginx').p50);
  return [
    least('T4', 'large relay: req/s of nginx', pairedRatio(own.perSecond, nginx.perSecond), 0.33),
    most('T4', 'large relay: ms of p50 over nginx, c=1', added, 0.06),
  ];
};

const addedVerdicts = (measured: Measured): readonly Verdict[] => {
  const p50 = (name: string) => median(figuresOf(measured, name).p50);
  return [
    most('T5', 'relay: added ms of p50, c=1', p50('gateway') - p50('upstream itself'), 0.12),
    most('T5', 'check hop without store: added ms of p50, c=1', p50('gateway, canned identity') - p50('gateway'), 0.25),
    most('T5', 'check hop with store: added ms of p50, c=1', p50('gateway, identity') - p50('gateway'), 0.5),
  ];
};

/** What the gateway costs beside nginx and the proxies of Node, before an upstream that costs next to nothing. */
export const gatewayPart: Part = async ({ quick }) => {
  const plan = quick ? { rounds: 1, seconds: 0.25, warmSeconds: 0.2 } : { rounds: 3, seconds: 0.7, warmSeconds: 1.5 };
  const cast = await startCast();
  const load = await startLoadGenerator('rest');
  const { relay, large, checked, added } = scenesOf(cast);
  for (const subject of [...relay.subjects, ...checked.subjects])
    await measure(load, subject, { connections: 64, seconds: plan.warmSeconds });
  const run = async (scene: Scene, connections: number) => {
    const measured = await measureScene(load, scene, { ...plan, connections });
    return { measured, rows: rowsOf(scene, connections, measured) };
  };
  const relayed = await run(relay, 64);
  const many = await run(large, 64);
  const single = await run(large, 1);
  const withChecks = await run(checked, 64);
  const latency = await run(added, 1);
  await Promise.all([load.stop(), cast.stop()]);
  const columns = ['scene', 'of', 'a second', 'x first', 'CPU us', 'x first', 'p50 ms', 'over first', 'p99 ms'];
  const rows = [relayed, many, single, withChecks, latency].flatMap((scene) => scene.rows);
  return {
    tables: [{ title: 'The gateway has a core, its surroundings the other', columns, rows }],
    verdicts: [
      ...relayVerdicts(relayed.measured),
      ...checkedVerdicts(withChecks.measured),
      ...largeVerdicts(many.measured, single.measured),
      ...addedVerdicts(latency.measured),
    ],
    notes: haveNginx()
      ? []
      : ['There is no nginx on the PATH: T1, T4 and a part of T2 are left out; the baseline is a bare proxy on node:http.'],
  };
};
