import {
  type AuthorizationServer,
  refreshEach,
  signInEach,
  startIdentityServer,
  startOidcProvider,
  type Tokens,
} from '../harness/authorization-server.ts';
import { installBenchPackages } from '../harness/bench-packages.ts';
import { type Child, startChild } from '../harness/children.ts';
import { makeKeys } from '../harness/credentials.ts';
import { type LoadGenerator, type LoadRequest, startLoadGenerator } from '../harness/load.ts';
import type { Part, Verdict } from '../harness/part.ts';
import { median, pairedRatio } from '../harness/statistics.ts';
import { startIdentity, tokensOf } from '../harness/world.ts';

/** Refreshes of each grant in a round: fewer than its client may ask for in a minute. */
const REFRESHES = 4;
const CONNECTIONS = [1, 64] as const;
const ACCOUNTS = 100;

interface Round {
  readonly flow: number;
  readonly refresh: number;
}

const round = async (server: AuthorizationServer, users: { readonly first: number; readonly count: number }): Promise<Round> => {
  const signedIn = await signInEach(server, users);
  let tokens: readonly Tokens[] = signedIn.tokens;
  const refreshes: number[] = [];
  for (let n = 0; n < REFRESHES; n += 1) {
    const refreshed = await refreshEach(server, { ...users, tokens });
    tokens = refreshed.tokens;
    refreshes.push(refreshed.cpuUs);
  }
  return { flow: signedIn.cpuUs, refresh: refreshes.reduce((sum, us) => sum + us, 0) / REFRESHES };
};

const most = (what: string, figure: number, limit: number): Verdict => ({ target: 'OAuth', what, figure, limit, wanted: 'most' });

/** Users sign in to an app, and the app refreshes its tokens: identity beside oidc-provider, on stores of one kind. */
const tokens = async ({ rounds, users }: { readonly rounds: number; readonly users: number }) => {
  installBenchPackages();
  const servers = [await startIdentityServer((rounds + 1) * users), await startOidcProvider()] as const;
  const measured = new Map<AuthorizationServer, Round[]>(servers.map((server) => [server, []]));
  for (const server of servers) await round(server, { first: 0, count: users });
  for (let n = 1; n <= rounds; n += 1)
    for (const server of servers) measured.get(server)?.push(await round(server, { first: n * users, count: users }));
  await Promise.all(servers.map(({ child }) => child.stop()));
  const of = (server: AuthorizationServer, figure: keyof Round) => measured.get(server)?.map((one) => one[figure]) ?? [];
  const ratio = (figure: keyof Round) => pairedRatio(of(servers[0], figure), of(servers[1], figure));
  const rows = (['refresh', 'flow'] as const).flatMap((figure) =>
    servers.map((server) => [
      figure === 'flow' ? 'from the first redirect to the tokens' : 'refresh',
      server.name,
      median(of(server, figure)),
      pairedRatio(of(server, figure), of(servers[1], figure)),
    ]),
  );
  return {
    table: { title: 'CPU of the authorization server', columns: ['what', 'of', 'CPU us', 'x oidc-provider'], rows },
    verdicts: [
      most('CPU a refresh x oidc-provider', ratio('refresh'), 0.55),
      most('CPU from sign-in to tokens x oidc-provider', ratio('flow'), 0.6),
    ],
  };
};

type Url = { readonly url: string };

/** The page beside the plainest endpoint of the same service, both through the gateway. */
const startPages = async () => {
  const keys = makeKeys();
  const identity = await startIdentity(keys, { accounts: ACCOUNTS });
  const bubbles = await startChild<Url>({ module: 'processes/raw-upstream.ts', settings: { bodies: {} } });
  const upstreams = `identity-and-oauth=${identity.ready.url};bubbles-query=${bubbles.ready.url}`;
  const gateway = await startChild<Url>({ module: 'processes/gateway.ts', settings: { upstreams, serviceKey: keys.own.gateway } });
  const children: readonly Child<unknown>[] = [gateway, identity];
  const me = tokensOf(identity.ready.seeded).map((token) => ({ path: '/v1/me', headers: { authorization: `Bearer ${token}` } }));
  const signIn = [{ path: '/app/sign-in?return_to=%2Fapp%2Fapi-keys' }];
  const stop = () => Promise.all([gateway, identity, bubbles].map((child) => child.stop()));
  return { children, origin: gateway.ready.url, me, signIn, stop };
};
type Pages = Awaited<ReturnType<typeof startPages>>;

interface Asked {
  readonly requests: readonly LoadRequest[];
  readonly connections: number;
  readonly seconds: number;
}

/** Microseconds of CPU a request. */
const cpuOf = async (load: LoadGenerator, { children, origin }: Pages, asked: Asked): Promise<number> => {
  const before = children.map((child) => child.cpuMs());
  const { answered, others } = await load.run({ ...asked, origin });
  if (Object.keys(others).length > 0) throw new Error(`answers ${JSON.stringify(others)}`);
  const ms = children.reduce((sum, child, at) => sum + child.cpuMs() - (before[at] ?? 0), 0);
  return (ms * 1000) / answered;
};

const signInPage = async ({ rounds, seconds }: { readonly rounds: number; readonly seconds: number }) => {
  const [pages, load] = await Promise.all([startPages(), startLoadGenerator()]);
  const rows: (readonly (string | number)[])[] = [];
  const verdicts: Verdict[] = [];
  for (const connections of CONNECTIONS) {
    const measured: Record<'me' | 'signIn', number[]> = { me: [], signIn: [] };
    for (let n = 0; n <= rounds; n += 1)
      for (const what of ['me', 'signIn'] as const) {
        const us = await cpuOf(load, pages, { requests: pages[what], connections, seconds });
        if (n > 0) measured[what].push(us);
      }
    const ratio = pairedRatio(measured.signIn, measured.me);
    rows.push([`/v1/me, c=${connections}`, median(measured.me), 1], [`/app/sign-in, c=${connections}`, median(measured.signIn), ratio]);
    verdicts.push(most(`CPU of the sign-in page x /v1/me, c=${connections}`, ratio, 2));
  }
  await Promise.all([load.stop(), pages.stop()]);
  return { table: { title: 'CPU of gateway and identity', columns: ['request', 'CPU us', 'x /v1/me'], rows }, verdicts };
};

/** What the OAuth server costs beside oidc-provider, and its first page beside an endpoint of the API. */
export const oauth: Part = async ({ quick }) => {
  const served = [
    await tokens(quick ? { rounds: 2, users: 60 } : { rounds: 5, users: 120 }),
    await signInPage(quick ? { rounds: 2, seconds: 0.4 } : { rounds: 5, seconds: 0.8 }),
  ];
  return {
    tables: served.map(({ table }) => table),
    verdicts: served.flatMap(({ verdicts }) => verdicts),
    notes: ['oidc-provider has its quick-start pages, which ask for no proof; identity mails a code, seals the mail and checks the code.'],
  };
};
