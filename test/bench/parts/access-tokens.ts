import { type Child, startChild } from '../harness/children.ts';
import { makeKeys } from '../harness/credentials.ts';
import { type LoadGenerator, startLoadGenerator } from '../harness/load.ts';
import type { Cell, Part, Verdict } from '../harness/part.ts';
import { median, pairedRatio } from '../harness/statistics.ts';
import { KEYS_EACH, startIdentity } from '../harness/world.ts';

const ACCOUNTS = 400;
/** Served by bubbles-query: the credential is checked. */
const PATH = '/v1/bubbles';
const CONNECTIONS = 64;
const SECONDS = 0.6;
/** More than are asked with in all rounds of tokens that were never seen. */
const TOKENS_PER_GRANT = 12;
const SUBJECTS = ['keys', 'known tokens', 'new tokens'] as const;
type Subject = (typeof SUBJECTS)[number];

interface Round {
  readonly perSecond: number;
  /** Microseconds a request. */
  readonly identity: number;
  readonly gateway: number;
  readonly readsPerCheck: number;
}

/** Gateway and identity before a service that answers at once: what is left is the check. */
const startChecks = async () => {
  const keys = makeKeys();
  const grants = { grantsEach: KEYS_EACH, accessTokensEach: TOKENS_PER_GRANT };
  const identity = await startIdentity(keys, { accounts: ACCOUNTS, grants });
  const upstream = await startChild<{ readonly url: string }>({
    module: 'processes/raw-upstream.ts',
    settings: { bodies: { [PATH]: '{}' } },
  });
  const upstreams = `identity-and-oauth=${identity.ready.url};bubbles-query=${upstream.ready.url}`;
  const gateway: Child<{ readonly url: string }> = await startChild({
    module: 'processes/gateway.ts',
    settings: { upstreams, serviceKey: keys.own.gateway },
  });
  const stop = async () => {
    await Promise.all([gateway, identity, upstream].map((child) => child.stop()));
  };
  return { identity, gateway, stop };
};
type Checks = Awaited<ReturnType<typeof startChecks>>;

/** Each credential is asked with in turn, below its rate. */
const tokenSource = ({ identity }: Checks): ((subject: Subject, round: number) => readonly string[]) => {
  const people = identity.ready.seeded;
  const ofGrants = (nth: number) => people.flatMap(({ accessTokens }) => accessTokens.map((tokens) => tokens[nth] ?? ''));
  return (subject, round) => {
    if (subject === 'keys') return people.flatMap(({ tokens }) => tokens);
    return ofGrants(subject === 'known tokens' ? 0 : 1 + (round % (TOKENS_PER_GRANT - 1)));
  };
};

const measure = async (load: LoadGenerator, { gateway, identity }: Checks, tokens: readonly string[]): Promise<Round> => {
  const requests = tokens.map((token) => ({ path: PATH, headers: { authorization: `Bearer ${token}` } }));
  const reads = await identity.ask<number>('reads');
  const [ofIdentity, ofGateway] = [identity.cpuMs(), gateway.cpuMs()];
  const shape = { origin: gateway.ready.url, requests, connections: CONNECTIONS, seconds: SECONDS };
  const { answered, others, perSecond } = await load.run(shape);
  if (Object.keys(others).length > 0) throw new Error(`answers ${JSON.stringify(others)}`);
  return {
    perSecond,
    identity: ((identity.cpuMs() - ofIdentity) * 1000) / answered,
    gateway: ((gateway.cpuMs() - ofGateway) * 1000) / answered,
    readsPerCheck: ((await identity.ask<number>('reads')) - reads) / answered,
  };
};

const figuresOf = (measured: Readonly<Record<Subject, readonly Round[]>>) => {
  const of = (subject: Subject, figure: keyof Round) => measured[subject].map((round) => round[figure]);
  const whole = (subject: Subject) => measured[subject].map(({ identity, gateway }) => identity + gateway);
  const rows: (readonly Cell[])[] = SUBJECTS.map((subject) => [
    subject,
    median(of(subject, 'perSecond')),
    median(of(subject, 'identity')),
    pairedRatio(of(subject, 'identity'), of('keys', 'identity')),
    median(of(subject, 'gateway')),
    pairedRatio(whole(subject), whole('keys')),
    median(of(subject, 'readsPerCheck')),
  ]);
  const most = (what: string, figure: number, limit: number): Verdict => ({ target: 'T7', what, figure, limit, wanted: 'most' });
  const extra = whole('new tokens').map((us, round) => (us - (whole('keys')[round] ?? 0)) / 1000);
  const verdicts = [
    most('CPU of identity a check: known token / key, c=64', pairedRatio(of('known tokens', 'identity'), of('keys', 'identity')), 1.3),
    most('CPU of gateway and identity: known token / key, c=64', pairedRatio(whole('known tokens'), whole('keys')), 1.3),
    most('store reads a check of a known token, c=64', median(of('known tokens', 'readsPerCheck')), 0.1),
    most('CPU ms that a token never seen takes more than a key', median(extra), 0.25),
  ];
  return { rows, verdicts };
};

/** What an access token costs more than a key: the same requests with the one and the other, round by round. */
export const accessTokens: Part = async ({ quick }) => {
  const rounds = quick ? 3 : 9;
  const checks = await startChecks();
  const load = await startLoadGenerator();
  const tokensFor = tokenSource(checks);
  const measured: Record<Subject, Round[]> = { keys: [], 'known tokens': [], 'new tokens': [] };
  for (const subject of ['keys', 'known tokens'] as const) await measure(load, checks, tokensFor(subject, 0));
  for (let round = 0; round < rounds; round += 1)
    for (const subject of SUBJECTS) measured[subject].push(await measure(load, checks, tokensFor(subject, round)));
  await Promise.all([load.stop(), checks.stop()]);
  const columns = ['with', 'a second', 'identity CPU us', 'x keys', 'gateway CPU us', 'both x keys', 'store reads a check'];
  return {
    tables: [{ title: 'Checks at 64 at once', columns, rows: figuresOf(measured).rows }],
    verdicts: figuresOf(measured).verdicts,
    notes: [],
  };
};
