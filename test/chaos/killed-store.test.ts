import { setTimeout as pause } from 'node:timers/promises';
import { systemClock } from '@bubbles/kernel/clock.ts';
import { isDomainError } from '@bubbles/kernel/errors.ts';
import type { Database } from '@bubbles/store/collection.ts';
import { openMongo } from '@bubbles/store/mongo.ts';
import { SILENT_LOG } from '@bubbles/testing/http.ts';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { isReady } from '../../deploy/stack/src/readiness.ts';
import { type Answer, type Call, send } from '../conformance/support/client.ts';
import { type Outside, openOutside } from '../support/outside.ts';
import { readModel } from '../support/read-model.ts';
import { type ChaosStack, chaosStack } from './support/chaos-stack.ts';
import { type FrailEngines, frailEngines } from './support/engines.ts';
import { awaitFacts, stateFacts } from './support/facts-load.ts';
import { directoryOf, makePeople } from './support/people.ts';
import { report, scaled } from './support/scale.ts';
import { untilSo, within } from './support/within.ts';

type Person = Awaited<ReturnType<typeof makePeople>>[number];
interface Key {
  readonly id: string;
  readonly token: string;
}

const KILLS = scaled({ short: 3, long: 20 });
const WRITERS = 8;
const BUBBLES = 24;
/** What each writer holds before it revokes the oldest. */
const HELD_KEYS = 3;
const WRITES_BEFORE_A_KILL = 24;
/** As fast as the store answers, so that some are answered in the very moment of its end. */
const ENTRIES_BEFORE_A_KILL = 200;
const ENTRY_WRITERS = 8;
/** After the store answers again. */
const READY_LIMIT_MS = 15_000;
const ASK_AGAIN_MS = 50;

let engines: FrailEngines;
let stack: ChaosStack;
let outside: Outside;
let database: Database;
let ledger: Database;
let people: readonly Person[];

beforeAll(async () => {
  engines = await frailEngines({ storeSurvives: 'kills' });
  stack = await chaosStack(engines);
  const identityUrls = stack.plansOf('identity-and-oauth').map(({ url }) => url);
  const access = { amqpUrl: engines.amqpUrl, operatorKeyFile: stack.operatorKeyFile, identityUrls };
  const founder = await openOutside(access);
  people = await makePeople(founder, WRITERS);
  const team = await founder.identity.createTeam({
    name: 'Pro',
    plan: 'pro',
    archived: false,
    domain: null,
    discoverable: false,
    trial_ends_at: null,
  });
  for (const { id } of people) await founder.identity.setMember(team, id, { role: 'member', hidden: false });
  await founder.close();
  outside = await openOutside({ ...access, directory: directoryOf(people) });
  const open = (name: string) => openMongo({ url: engines.mongoUrl, name, log: SILENT_LOG, clock: systemClock() });
  [database, ledger] = [open('bubbles_query'), open('ledger')];
});

afterAll(async () => {
  await outside?.close();
  await database?.close();
  await ledger?.close();
  await stack?.close();
  await engines?.close();
});

/** By one gateway after the other; null when nobody can know what came of it. */
const ask = async (path: string, call: Call): Promise<Answer | null> => {
  turn += 1;
  const gateways = stack.plansOf('gateway');
  for (;;) {
    const answer = await send(gateways[turn % gateways.length]?.url ?? '', path, call).catch(() => null);
    if (answer === null || answer.status >= 500) return null;
    if (answer.status !== 429) return answer;
    await pause(Number(answer.headers.get('retry-after')) * 1000);
  }
};
let turn = 0;

/** Asks until somebody has judged it: all of them are asked about at once. */
const statusOf = ({ token }: Key): Promise<number> =>
  within({ what: 'a key is judged' }, async (over) => {
    for (;;) {
      const answer = await ask('/v1/me', { as: token });
      if (answer !== null) return answer.status;
      await pause(ASK_AGAIN_MS, undefined, { signal: over });
    }
  });

/** Makes keys and revokes them, and knows what was answered. */
const keyWriter = ({ session_token: as }: Person) => {
  const held: Key[] = [];
  const revoked: Key[] = [];
  const refused: string[] = [];
  let [acknowledged, unanswered] = [0, 0];
  const judged = (answer: Answer | null, wanted: number): answer is Answer => {
    if (answer === null) unanswered += 1;
    else if (answer.status === wanted) acknowledged += 1;
    else refused.push(`${answer.status} ${answer.text}`);
    return answer?.status === wanted;
  };
  const write = async () => {
    if (held.length < HELD_KEYS) {
      const answer = await ask('/v1/api-keys', { method: 'POST', as, body: { name: 'a key' } });
      if (judged(answer, 201)) held.push(answer.json);
      return;
    }
    const [oldest] = held.splice(0, 1);
    const answer = await ask(`/v1/api-keys/${oldest?.id}`, { method: 'DELETE', as });
    if (judged(answer, 204) && oldest !== undefined) revoked.push(oldest);
  };
  return {
    held,
    revoked,
    refused,
    acknowledged: () => acknowledged,
    unanswered: () => unanswered,
    async run(over: AbortSignal) {
      while (!over.aborted) await write();
    },
  };
};

/** Entries of the adapter of stores, each writer's until the store is away; those that were acknowledged. */
const entries = (kill: number) => {
  const acknowledged: string[] = [];
  const writer = async (_: unknown, number: number): Promise<void> => {
    for (let n = 0; ; n += 1) {
      const id = `${kill}-${number}-${n}`;
      const isWritten = await ledger
        .collection('entries')
        .insert({ _id: id })
        .then(
          () => true,
          (error: unknown) => {
            if (!isDomainError(error) || error.kind !== 'unavailable') throw error;
            return false;
          },
        );
      if (!isWritten) return;
      acknowledged.push(id);
    }
  };
  return { acknowledged, over: Promise.all(Array.from({ length: ENTRY_WRITERS }, writer)) };
};

/** The engine writes its journal to the disk when a client asks for that, and otherwise some time later: without the write concern of the product this fails. */
describe('a store that is killed under load', () => {
  interface Load {
    readonly participants: readonly string[];
    readonly sum: (of: 'acknowledged' | 'unanswered') => number;
  }
  const killAndRevive = async (kill: number, { participants, sum }: Load): Promise<void> => {
    const before = sum('acknowledged');
    const stating = stateFacts(outside, { count: BUBBLES, participants });
    await untilSo({ what: 'writes are answered' }, () => sum('acknowledged') >= before + WRITES_BEFORE_A_KILL);
    const { acknowledged, over: entered } = entries(kill);
    await untilSo({ what: 'entries are acknowledged' }, () => acknowledged.length >= ENTRIES_BEFORE_A_KILL);
    await engines.kill('mongo');
    await entered;
    await engines.revive();
    const revivedAt = performance.now();
    await untilSo({ what: 'every process is ready', limitMs: READY_LIMIT_MS }, async () =>
      (await Promise.all(stack.plans.map((plan) => isReady(plan)))).every(Boolean),
    );
    const readyMs = performance.now() - revivedAt;
    const kept = await ledger.collection('entries').find({ _id: { $in: acknowledged } }, {});
    expect(acknowledged.length - kept.length).toBe(0);
    await awaitFacts(outside, readModel(database), await stating);
    report('the store was killed', {
      'ready after ms': readyMs,
      acknowledged: sum('acknowledged'),
      entries: acknowledged.length,
      unanswered: sum('unanswered'),
    });
  };

  it('[F16] loses nothing that was answered or acknowledged, and every process is ready again in 15 s', async () => {
    const writers = people.map(keyWriter);
    const sum = (of: 'acknowledged' | 'unanswered') => writers.reduce((all, writer) => all + writer[of](), 0);
    const over = new AbortController();
    const writing = Promise.all(writers.map((writer) => writer.run(over.signal)));
    const participants = people.slice(0, 4).map(({ id }) => id);
    try {
      for (let kill = 0; kill < KILLS; kill += 1) await killAndRevive(kill, { participants, sum });
    } finally {
      over.abort();
      await writing;
    }
    expect(writers.flatMap(({ refused }) => refused)).toEqual([]);
    const statuses = async (keys: 'held' | 'revoked') =>
      new Set(await Promise.all(writers.flatMap((writer) => writer[keys]).map(statusOf)));
    expect(await statuses('held')).toEqual(new Set([200]));
    expect(await statuses('revoked')).toEqual(new Set([401]));
  });
});
