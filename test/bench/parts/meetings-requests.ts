import { type Child, startChild } from '../harness/children.ts';
import { makeKeys, TEAM_ID } from '../harness/credentials.ts';
import { type LoadFigures, type LoadGenerator, type LoadRequest, startLoadGenerator } from '../harness/load.ts';
import type { Cell, Outcome } from '../harness/part.ts';
import { median, pairedRatio } from '../harness/statistics.ts';
import { startIdentity, tokensOf } from '../harness/world.ts';

const ACCOUNTS = 200;
const JOIN = '/v1/meetings/join';
const HOOKS = '/v1/webhooks';

type Started = Child<{ readonly url: string }>;

/** Gateway, identity, and the two services that are compared. */
const startPath = async () => {
  const keys = makeKeys();
  const identity = await startIdentity(keys, { accounts: ACCOUNTS });
  const identityUrl = identity.ready.url;
  const start = (module: string, name: 'meetings-bot-gateway' | 'webhooks-dispatcher'): Promise<Started> =>
    startChild({ module, settings: { callers: keys.callers, identityUrl, serviceKey: keys.own[name] } });
  const meetings = await start('processes/meetings.ts', 'meetings-bot-gateway');
  const webhooks = await start('processes/webhooks.ts', 'webhooks-dispatcher');
  const upstreams = `identity-and-oauth=${identityUrl};meetings-bot-gateway=${meetings.ready.url};webhooks-dispatcher=${webhooks.ready.url}`;
  const gateway: Started = await startChild({ module: 'processes/gateway.ts', settings: { upstreams, serviceKey: keys.own.gateway } });
  const all = [gateway, webhooks, meetings, identity];
  return {
    origin: gateway.ready.url,
    tokens: tokensOf(identity.ready.seeded),
    stop: () => Promise.all(all.map((child) => child.stop())),
  };
};

const CODE_LETTERS = 10;
const FIRST_LETTER = 97;
const ALPHABET = 26;
/** Every one another meeting. */
const meetingOf = (n: number): string => {
  const letters = Array.from({ length: CODE_LETTERS }, (_, at) =>
    String.fromCharCode(FIRST_LETTER + (Math.floor(n / ALPHABET ** at) % ALPHABET)),
  ).join('');
  return `https://meet.google.com/${letters.replace(/^(...)(....)(...)$/, '$1-$2-$3')}`;
};

const BODIES: Readonly<Record<string, (n: number) => object>> = {
  [JOIN]: (n) => ({ meeting_url: meetingOf(n), team_id: TEAM_ID }),
  [HOOKS]: (n) => ({ url: `https://receiver.example.com/${n}`, events: ['bubble.ready'] }),
};

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

/** `count` requests that make something, none of them twice. */
const creator = (path: string, tokens: readonly string[]) => {
  let made = 0;
  return (count: number): LoadRequest[] =>
    Array.from({ length: count }, () => {
      made += 1;
      const headers = { ...bearer(tokens[made % tokens.length] ?? ''), 'content-type': 'application/json' };
      return { method: 'POST', path, headers, body: JSON.stringify(BODIES[path]?.(made)) };
    });
};

/** Requests that read what each of the accounts made. */
const readersOf = (origin: string, path: string, tokens: readonly string[]): Promise<LoadRequest[]> => {
  const create = creator(path, tokens.slice(0, ACCOUNTS));
  return Promise.all(
    create(ACCOUNTS).map(async ({ headers = {}, body = '' }) => {
      const answer = await fetch(`${origin}${path}`, { method: 'POST', headers, body });
      if (answer.status !== 201) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
      const { id } = (await answer.json()) as { readonly id: string }; // The service checked it against its schema.
      return { path: `${path}/${id}`, headers };
    }),
  );
};

interface Subject {
  readonly name: string;
  readonly requests: () => readonly LoadRequest[];
}

const POSTS_PER_ROUND = 4000;

const compared = async (load: LoadGenerator, origin: string, subjects: readonly Subject[], quick: boolean) => {
  const { rounds, seconds, warmSeconds } = quick ? { rounds: 3, seconds: 0.5, warmSeconds: 1 } : { rounds: 7, seconds: 1, warmSeconds: 3 };
  const figures = new Map<string, LoadFigures[]>(subjects.map(({ name }) => [name, []]));
  for (let round = -1; round < rounds; round += 1)
    for (const { name, requests } of subjects) {
      const shape = { connections: 1, seconds: round < 0 ? warmSeconds : seconds };
      const measured = await load.run({ origin, requests: requests(), ...shape });
      if (Object.keys(measured.others).length > 0) throw new Error(`${name}: answers ${JSON.stringify(measured.others)}`);
      if (round >= 0) figures.get(name)?.push(measured);
    }
  const p50s = subjects.map(({ name }) => (figures.get(name) ?? []).map(({ p50 }) => p50));
  const rows: (readonly Cell[])[] = subjects.map(({ name }, at) => [
    name,
    median(p50s[at] ?? []),
    median((figures.get(name) ?? []).map(({ p99 }) => p99)),
    pairedRatio(p50s[at] ?? [], p50s[0] ?? []),
  ]);
  return { rows, ratio: pairedRatio(p50s[1] ?? [], p50s[0] ?? []) };
};

/** Joins beside subscriptions of webhooks, through gateway and identity, one request at a time. */
export const requests = async (quick: boolean): Promise<Outcome> => {
  const { origin, tokens, stop } = await startPath();
  const load = await startLoadGenerator();
  const [readHooks, readJoins] = [await readersOf(origin, HOOKS, tokens), await readersOf(origin, JOIN, tokens)];
  // Other keys than those that read: each has 120 requests a minute.
  const [createHooks, createJoins] = [HOOKS, JOIN].map((path) => creator(path, tokens.slice(ACCOUNTS)));
  const posts = await compared(
    load,
    origin,
    [
      { name: `POST ${HOOKS}`, requests: () => createHooks?.(POSTS_PER_ROUND) ?? [] },
      { name: `POST ${JOIN}`, requests: () => createJoins?.(POSTS_PER_ROUND) ?? [] },
    ],
    quick,
  );
  const reads = await compared(
    load,
    origin,
    [
      { name: `GET ${HOOKS}/{id}`, requests: () => readHooks },
      { name: `GET ${JOIN}/{id}`, requests: () => readJoins },
    ],
    quick,
  );
  await Promise.all([load.stop(), stop()]);
  const verdict = (what: string, figure: number, limit: number) => ({ target: 'Meetings', what, figure, limit, wanted: 'most' }) as const;
  return {
    tables: [
      {
        title: 'Requests through the whole path, one at a time',
        columns: ['request', 'p50 ms', 'p99 ms', 'x webhooks'],
        rows: [...posts.rows, ...reads.rows],
      },
    ],
    verdicts: [
      verdict(`p50 of POST ${JOIN} / POST ${HOOKS}`, posts.ratio, 1.5),
      verdict(`p50 of GET ${JOIN}/{id} / GET ${HOOKS}/{id}`, reads.ratio, 1.2),
    ],
    notes: [],
  };
};
