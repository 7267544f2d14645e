import { memoryDatabase } from '@bubbles/testing/memory-database.ts';
import { mortalDatabase } from '@bubbles/testing/mortal-database.ts';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { bubbleIdOf, isFinal, type Join, type JoinStatus } from '../src/domain/join.ts';
import { TEAM } from './builders.ts';
import { fakeProvider } from './fake-provider.ts';
import { fakeIdentity, startGateway, type TestGateway } from './gateway.ts';

const STATUSES = ['dispatched', 'joining', 'in_waiting_room', 'in_call', 'recording', 'done', 'fatal'] as const;
const rankOf = (status: JoinStatus): number => (isFinal(status) ? STATUSES.indexOf('done') : STATUSES.indexOf(status));

const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('move' as const),
      status: fc.constantFrom(...STATUSES),
      recordedEver: fc.boolean(),
      isLeaving: fc.boolean(),
      isDenied: fc.boolean(),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('hook' as const),
      event: fc.integer({ min: 1, max: 4 }),
      about: fc.constantFrom('join', 'ref', 'both', 'nobody'),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('forge' as const) }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('pass' as const), seconds: fc.constantFrom(1, 6, 61, 240, 700, 4000, 30_000) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('ask' as const), userId: fc.constantFrom('ada', 'ben') }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('stop' as const), userId: fc.constantFrom('ada', 'ben') }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('close' as const), userId: fc.constantFrom('ada', 'ben') }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('provider' as const), mode: fc.constantFrom('there', 'loses answers', 'away') }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('die' as const), after: fc.integer({ min: 1, max: 60 }) }) },
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

/** Everything that outlives a process, and the one that runs now. */
const openWorld = async () => {
  const data = memoryDatabase();
  const identity = fakeIdentity();
  identity.teams.set(TEAM, { id: TEAM, known: true, plan: 'free', archived: false, channel_ids: [] });
  const provider = fakeProvider();
  const captured: string[] = [];
  const logs: TestGateway['log'][] = [];
  const start = async (clock?: TestGateway['clock']) => {
    const database = mortalDatabase(data);
    const gateway = await startGateway({ database, identity, provider, ...(clock && { clock }) });
    logs.push(gateway.log);
    return { gateway, database };
  };
  let running = await start();
  const first = (await running.gateway.join({}, { userId: 'ada' })).body;
  const id = String(first.id);
  const bury = async () => {
    if (!running.database.isDead()) return;
    const dead = running.gateway;
    const stopped = dead.stop().catch(() => undefined);
    for (const { bubble_id } of dead.captured) captured.push(bubble_id);
    running = await start(dead.clock);
    // What the dead one held ends by the clock.
    await running.gateway.pass(61);
    await stopped;
  };
  const attempt = async (act: (gateway: TestGateway) => Promise<unknown>): Promise<void> => {
    await act(running.gateway).catch(() => undefined);
    await bury();
  };
  const doStep = (one: Step): Promise<void> =>
    attempt(async (gateway) => {
      switch (one.kind) {
        case 'move':
          return provider.move(id, { ...one, reason: null });
        case 'hook': {
          const about = { join: { joinId: id }, ref: { ref: 'run-1' }, both: { joinId: id, ref: 'run-1' }, nobody: { joinId: 'mj_none' } }[
            one.about
          ];
          await gateway.hook(provider.webhook(`e${one.event}`, about));
          return gateway.settle();
        }
        case 'forge':
          return gateway.hook({
            ...provider.webhook('e9', { joinId: id }),
            headers: { 'content-type': 'application/json', 'x-webhook-signature': 'x' },
          });
        case 'pass':
          return gateway.pass(one.seconds);
        case 'ask':
          return gateway.join({}, one);
        case 'stop':
          await gateway.call('DELETE', `/v1/meetings/join/${id}`, undefined, one);
          return gateway.settle();
        case 'close':
          return gateway.closeAccount(one.userId);
        case 'provider':
          provider.mode = one.mode;
          return;
        case 'die':
          running.database.dieAt(one.after);
      }
    });
  return {
    id,
    provider,
    doStep,
    read: async (): Promise<Join> => {
      const found = await data.collection<{ readonly _id: string } & Omit<Join, 'id'>>('joins').findOne({ _id: id });
      if (found === null) throw new Error('the join is gone');
      return { ...found, id };
    },
    places: async () =>
      (await data.collection<{ readonly _id: string; readonly places: readonly { readonly joinId: string }[] }>('quotas').find({}))
        .filter(({ places }) => places.some(({ joinId }) => joinId === id))
        .map(({ _id }) => _id.split(' ')[0]),
    /** Until everything has come to its end. */
    async finish() {
      provider.mode = 'there';
      running.database.dieAt(Number.POSITIVE_INFINITY);
      for (let hour = 0; hour < 24; hour += 1) await running.gateway.pass(3600);
    },
    shown: () => running.gateway.status(id),
    captured: () => [...captured, ...running.gateway.captured.map(({ bubble_id }) => bubble_id)],
    hasGivenUp: () => logs.some(({ lines }) => lines.some(({ message }) => message === 'notetaker may still be in the call')),
    stop: () => running.gateway.stop(),
  };
};

type World = Awaited<ReturnType<typeof openWorld>>;

const judge = async (world: World): Promise<void> => {
  const join = await world.read();
  const { status, history, fatalReason, id } = join;
  expect([isFinal(status), join.work, 'runningKey' in join]).toEqual([true, null, false]);
  expect(history.map((change) => rankOf(change.status))).toEqual(history.map((change) => rankOf(change.status)).toSorted());
  // What was lost of its recording is said after its end.
  expect(new Set(history.filter((change) => isFinal(change.status)).map((change) => change.status))).toEqual(new Set([status]));
  expect(fatalReason === null).toBe(status === 'done');
  expect(new Set(world.captured())).toEqual(new Set(status === 'done' ? [bubbleIdOf(id)] : []));
  expect((await world.places()).includes('team')).toBe(status === 'done');
  // Nobody is left in a call, unless the provider stayed away for the time after which that is said; and there never were two.
  const ofJoin = world.provider.runs.filter(({ joinId }) => joinId === id);
  if (!world.hasGivenUp()) expect(ofJoin.filter((run) => !run.isGone && !run.hasEnded)).toEqual([]);
  expect(ofJoin.length).toBeLessThanOrEqual(1);
};

describe('a join, whatever happens to it in whatever order', () => {
  it('[MEET-04][MEET-07][MEET-08][MEET-09][MEET-10] goes forward, ends once with its first cause, and is settled', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 14 }), async (steps) => {
        const world = await openWorld();
        try {
          let before = await world.read();
          for (const one of steps) {
            await world.doStep(one);
            const after = await world.read();
            expect(rankOf(after.status)).toBeGreaterThanOrEqual(rankOf(before.status));
            if (isFinal(before.status)) expect([after.status, after.fatalReason]).toEqual([before.status, before.fatalReason]);
            const { status, body } = await world.shown();
            // The process may be told to die here.
            if (status === 200) expect(body.bot_in_call).toBe(['in_call', 'recording'].includes(body.status));
            before = after;
          }
          await world.finish();
          await judge(world);
        } finally {
          await world.stop();
        }
      }),
      { numRuns: 40 },
    );
  });
});
