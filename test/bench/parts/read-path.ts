import { type Child, startChild } from '../harness/children.ts';
import { assertionsOf } from '../harness/credentials.ts';
import { type LoadFigures, type LoadGenerator, type LoadRequest, startLoadGenerator } from '../harness/load.ts';
import type { Cell, Part, Verdict } from '../harness/part.ts';
import { median, pairedRatio } from '../harness/statistics.ts';
import { startWorld, type World } from '../harness/world.ts';

const ACCOUNTS = 200;
const SEED = { bubbles: 6_000, users: ACCOUNTS, readersEach: 4, cards: false };
const CONNECTIONS = [1, 64];
const ASSERTED_CALLERS = 100;
const PATHS = { me: '/v1/me', 'list of 25': '/v1/bubbles?limit=25', 'list of 100': '/v1/bubbles?limit=100', 'by id': '/v1/bubbles/' };
type Kind = keyof typeof PATHS;

/** Somewhere to send a kind of request to, and the processes that work for it. */
interface Subject {
  readonly name: 'whole path' | 'service alone' | 'bare Koa' | 'Koa without store';
  readonly origin: string;
  readonly requests: readonly LoadRequest[];
  readonly processes: Readonly<Record<string, Child<unknown>>>;
}

interface Round extends LoadFigures {
  /** Microseconds a request, by process. */
  readonly cpu: Readonly<Record<string, number>>;
}

const measure = async (load: LoadGenerator, subject: Subject, shape: { connections: number; seconds: number }): Promise<Round> => {
  const processes = Object.entries(subject.processes);
  const before = processes.map(([, child]) => child.cpuMs());
  const figures = await load.run({ ...shape, origin: subject.origin, requests: subject.requests });
  if (Object.keys(figures.others).length > 0) throw new Error(`${subject.name}: answers ${JSON.stringify(figures.others)}`);
  const cpu = processes.map(([name, child], at) => [name, ((child.cpuMs() - (before[at] ?? 0)) * 1000) / figures.answered] as const);
  return { ...figures, cpu: Object.fromEntries(cpu) };
};

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

/** A bubble that this account may read. */
const pathsFor = (kind: Kind, { bubbles }: World, user: number): string => {
  if (kind !== 'by id') return PATHS[kind];
  const { ids } = bubbles.ready.seeded;
  const step = Math.floor(SEED.bubbles / ids.length);
  const at = ids.findIndex((_, n) => (user - n * step + SEED.bubbles * ACCOUNTS) % ACCOUNTS < SEED.readersEach);
  return `${PATHS[kind]}${ids[at] ?? ''}`;
};

/** Accounts that can read one of the sampled bubbles. */
const usersFor = (kind: Kind, world: World): readonly number[] =>
  Array.from({ length: ACCOUNTS }, (_, user) => user).filter((user) => !pathsFor(kind, world, user).endsWith('/'));

const wholePath = (kind: Kind, world: World): Subject => {
  const users = usersFor(kind, world);
  const requests = world.identity.ready.seeded.flatMap(({ tokens }, user) =>
    users.includes(user) ? tokens.map((token) => ({ path: pathsFor(kind, world, user), headers: bearer(token) })) : [],
  );
  const { gateway, identity, bubbles } = world;
  const processes = kind === 'me' ? { gateway, identity } : { gateway, identity, bubbles };
  return { name: 'whole path', origin: gateway.ready.url, requests, processes };
};

const serviceAlone = async (kind: Kind, world: World): Promise<Subject> => {
  const { identity, bubbles, keys } = world;
  const users = usersFor(kind, world).slice(0, ASSERTED_CALLERS);
  const name = 'service alone';
  if (kind === 'me') {
    const requests = world.tokens.map((token) => ({ path: PATHS.me, headers: bearer(token) }));
    return { name, origin: identity.ready.url, requests, processes: { identity } };
  }
  const tokens = users.map((user) => identity.ready.seeded[user]?.tokens[0] ?? '');
  const assertions = await assertionsOf(keys, { identityUrl: identity.ready.url, tokens });
  const requests = assertions.map((assertion, at) => ({
    path: pathsFor(kind, world, users[at] ?? 0),
    headers: { 'x-internal-assertion': assertion },
  }));
  return { name, origin: bubbles.ready.url, requests, processes: { bubbles } };
};

/** What the whole path answers, asked once. */
const sampleBody = async (kind: Kind, world: World): Promise<{ readonly path: string; readonly body: string }> => {
  const { origin, requests } = wholePath(kind, world);
  const [request] = requests;
  const answer = await fetch(`${origin}${request?.path ?? ''}`, { headers: request?.headers ?? {} });
  if (!answer.ok) throw new Error(`${kind}: ${answer.status} ${await answer.text()}`);
  return { path: request?.path ?? '', body: await answer.text() };
};

type Measured = ReadonlyMap<Subject['name'], readonly Round[]>;

const rowsOf = (kind: Kind, connections: number, measured: Measured): readonly (readonly Cell[])[] => {
  const base = measured.get('bare Koa') ?? [];
  const perSecond = (rounds: readonly Round[]) => rounds.map((round) => round.perSecond);
  return [...measured].map(([name, rounds]) => {
    const cpu = Object.keys(rounds[0]?.cpu ?? {}).map(
      (process) => `${process} ${Math.round(median(rounds.map((r) => r.cpu[process] ?? 0)))}`,
    );
    return [
      `${kind}, c=${connections}`,
      name,
      median(perSecond(rounds)),
      pairedRatio(perSecond(rounds), perSecond(base)),
      median(rounds.map(({ p50 }) => p50)),
      median(rounds.map(({ p99 }) => p99)),
      cpuOf(rounds),
      pairedRatio(
        rounds.map(({ cpu: one }) => total(one)),
        base.map(({ cpu: one }) => total(one)),
      ),
      cpu.join(', '),
    ];
  });
};

const total = (cpu: Readonly<Record<string, number>>): number => Object.values(cpu).reduce((sum, one) => sum + one, 0);
const cpuOf = (rounds: readonly Round[]): number => median(rounds.map(({ cpu }) => total(cpu)));

const verdictsOf = (kind: Kind, connections: number, measured: Measured): readonly Verdict[] => {
  const rounds = (name: Subject['name']) => measured.get(name) ?? [];
  const times = (name: Subject['name'], base: Subject['name']) =>
    pairedRatio(
      rounds(name).map(({ cpu }) => total(cpu)),
      rounds(base).map(({ cpu }) => total(cpu)),
    );
  const p50 = median(rounds('whole path').map((round) => round.p50));
  const most = (target: string, what: string, figure: number, limit: number): Verdict => ({ target, what, figure, limit, wanted: 'most' });
  if (kind === 'me')
    return connections === 1
      ? [
          most('T6', 'me: CPU of identity / bare Koa, c=1', times('service alone', 'bare Koa'), 8),
          most('3.1', 'me: p50 ms of the whole path, c=1', p50, 0.8),
          most('3.1', 'me: CPU us of the whole path, c=1', cpuOf(rounds('whole path')), 260),
        ]
      : [most('T6', 'me: CPU of identity / bare Koa, c=64', times('service alone', 'bare Koa'), 2)];
  if (kind !== 'list of 25') return [];
  return connections === 1
    ? [
        most('T6', 'list of 25: CPU of the service / Koa without store, c=1', times('service alone', 'Koa without store'), 4),
        most('3.1', 'list of 25: p50 ms of the whole path, c=1', p50, 1.5),
        most('3.1', 'list of 25: CPU us of the whole path, c=1', cpuOf(rounds('whole path')), 600),
      ]
    : [
        most('T6', 'list of 25: CPU of the service / Koa without store, c=64', times('service alone', 'Koa without store'), 4),
        most('T7', 'CPU us of identity a check, c=64', median(rounds('whole path').map(({ cpu }) => cpu['identity'] ?? 0)), 20),
      ];
};

/** Store reads of identity per request of the whole path. */
const readsPerCheck = async (load: LoadGenerator, world: World, seconds: number): Promise<Verdict> => {
  const { origin, requests } = wholePath('list of 25', world);
  const before = await world.identity.ask<number>('reads');
  const { answered } = await load.run({ origin, requests, connections: 64, seconds });
  const reads = (await world.identity.ask<number>('reads')) - before;
  return { target: 'T7', what: 'store reads of identity a check, c=64', figure: reads / answered, limit: 0.1, wanted: 'most' };
};

/** A request of the read path against the same bytes from a bare Koa, and against the service without gateway and identity. */
export const readPath: Part = async ({ quick }) => {
  const [rounds, seconds] = quick ? [1, 0.35] : [3, 0.8];
  const world = await startWorld({ accounts: ACCOUNTS, seed: SEED });
  const load = await startLoadGenerator();
  const kinds = Object.keys(PATHS) as Kind[]; // The keys of the literal above.
  const samples = await Promise.all(kinds.map((kind) => sampleBody(kind, world)));
  const koa = await startChild<{ readonly url: string }>({
    module: 'processes/bare-koa.ts',
    settings: { bodies: Object.fromEntries(samples.map(({ path, body }) => [path, body])) },
  });
  const rows: (readonly Cell[])[] = [];
  const verdicts: Verdict[] = [];
  for (const [at, kind] of kinds.entries()) {
    const path = samples[at]?.path ?? '';
    const bare = (name: Subject['name'], query = ''): Subject => ({
      name,
      origin: koa.ready.url,
      requests: [{ path: `${path}${query}` }],
      processes: { koa },
    });
    const subjects = [
      bare('bare Koa'),
      ...(kind.startsWith('list') ? [bare('Koa without store', '&store=none')] : []),
      wholePath(kind, world),
    ];
    for (const subject of [...subjects, await serviceAlone(kind, world)]) await measure(load, subject, { connections: 16, seconds });
    for (const connections of CONNECTIONS) {
      const measured = new Map<Subject['name'], Round[]>();
      const all = [...subjects, await serviceAlone(kind, world)];
      for (let round = 0; round < rounds; round += 1)
        for (const subject of all)
          measured.set(subject.name, [...(measured.get(subject.name) ?? []), await measure(load, subject, { connections, seconds })]);
      for (const one of rowsOf(kind, connections, measured)) rows.push(one);
      for (const one of verdictsOf(kind, connections, measured)) verdicts.push(one);
    }
  }
  verdicts.push(await readsPerCheck(load, world, seconds));
  await Promise.all([load.stop(), koa.stop(), world.stop()]);
  const columns = ['request', 'of', 'a second', 'of bare Koa', 'p50 ms', 'p99 ms', 'CPU us', 'x bare Koa', 'CPU us by process'];
  const engine = process.env['MONGODB_URL'] === undefined ? 'the embedded engine' : 'the engine of MONGODB_URL';
  const sizes = samples.map(({ body }, at) => `${kinds[at]} ${Buffer.byteLength(body)} B`).join(', ');
  return { tables: [{ title: `Read path on ${engine}`, columns, rows }], verdicts, notes: [`Bodies: ${sizes}.`] };
};
