import { startChild } from '../harness/children.ts';
import { type Receiver, startDispatcher } from '../harness/dispatcher.ts';
import { startLoadGenerator } from '../harness/load.ts';
import type { Cell, Part, Verdict } from '../harness/part.ts';
import { median, medianInterval } from '../harness/statistics.ts';
import { startWorld } from '../harness/world.ts';

const SEED = { bubbles: 2_000, users: 100, readersEach: 4, cards: false };
const LIST = '/v1/bubbles?limit=25';
const CONNECTIONS = 64;
const AN_HOUR_MS = 3_600_000;
/** Of the CPU of a request and of a delivery. */
const MOST_COST = 0.03;

interface Round {
  readonly perSecond: number;
  /** Of a request or a delivery, in all processes that serve it: unlike the rate, it hardly depends on who else uses the machine. */
  readonly cpuUs: number;
}

interface Side {
  run(observe: boolean): Promise<Round>;
  stop(): Promise<void>;
}

/** A round without and one with. */
type Pair = readonly [Round, Round];

interface Plan {
  /** Each with processes of its own. */
  readonly generations: number;
  readonly rounds: number;
}

/** Pairs of rounds that warm the code up both ways. */
const WARM_UP = 10;

/**
 * Short rounds of the same processes without and with, the first by turns: what disturbs the machine disturbs both alike, and two processes of one kind differ
 * by more than is measured here for as long as they live.
 */
const compare = async ({ generations, rounds }: Plan, start: () => Promise<Side>): Promise<readonly Pair[]> => {
  const pairs: Pair[] = [];
  for (let generation = 0; generation < generations; generation += 1) {
    const side = await start();
    for (let round = -WARM_UP; round < rounds; round += 1) {
      const first = await side.run(round % 2 === 0);
      const second = await side.run(round % 2 !== 0);
      if (round >= 0) pairs.push(round % 2 === 0 ? [second, first] : [first, second]);
    }
    await side.stop();
  }
  return pairs;
};

/** The path of T2: the gateway with a live check of each credential, and a list behind it. */
const requestSide = (seconds: number) => async (): Promise<Side> => {
  const world = await startWorld({ accounts: SEED.users, seed: SEED, switched: true });
  const load = await startLoadGenerator();
  const processes = [world.gateway, world.identity, world.bubbles];
  const asked = world.tokens.map((token) => ({ path: LIST, headers: { authorization: `Bearer ${token}` } }));
  return {
    async run(observe) {
      const cpuMs = async () => {
        const each = await Promise.all(processes.map((child) => child.ask<number>({ observe })));
        return each.reduce((sum, ms) => sum + ms, 0);
      };
      const before = await cpuMs();
      const plan = { connections: CONNECTIONS, seconds, origin: world.gateway.ready.url, requests: asked };
      const { perSecond, answered, others } = await load.run(plan);
      if (Object.keys(others).some((status) => status !== '429')) throw new Error(`answers ${JSON.stringify(others)}`);
      const all = answered + (others['429'] ?? 0);
      return { perSecond, cpuUs: (((await cpuMs()) - before) * 1000) / all };
    },
    stop: async () => {
      await Promise.all([load.stop(), world.stop()]);
    },
  };
};

const deliverySide = (receiver: Receiver, count: number) => async (): Promise<Side> => {
  const dispatcher = await startDispatcher({ switched: true });
  let round = 0;
  return {
    async run(observe) {
      round += 1;
      await dispatcher.observe(observe);
      await dispatcher.perform({ task: 'queue', owner: `round-${round}`, url: receiver.ready.url, count, dueInMs: AN_HOUR_MS });
      await dispatcher.perform({ task: 'put-forward', ms: AN_HOUR_MS });
      const { ms, cpuMs } = await dispatcher.perform({ task: 'work-off' });
      return { perSecond: (count * 1000) / ms, cpuUs: (cpuMs * 1000) / count };
    },
    stop: dispatcher.stop,
  };
};

const ratios = (pairs: readonly Pair[], figure: keyof Round): readonly number[] =>
  pairs.map(([without, with_]) => with_[figure] / without[figure]);

/** What traces and the figures of store and broker cost: the same processes with and without them, round by round. */
export const observed: Part = async ({ quick }) => {
  const plan = quick ? { generations: 1, rounds: 50 } : { generations: 2, rounds: 120 };
  const listed = await compare(plan, requestSide(0.4));
  const receiver: Receiver = await startChild({ module: 'processes/webhook-receiver.ts', core: 'rest' });
  const delivered = await compare(plan, deliverySide(receiver, 500));
  await receiver.stop();
  const rows: Cell[][] = [];
  const verdicts: Verdict[] = [];
  for (const [what, pairs] of [
    ['list of 25', listed],
    ['delivery', delivered],
  ] as const) {
    const cpu = ratios(pairs, 'cpuUs');
    const middle = (side: 0 | 1, figure: keyof Round) => median(pairs.map((pair) => pair[side][figure]));
    const cells = (['cpuUs', 'perSecond'] as const).flatMap((figure) => [
      middle(0, figure),
      middle(1, figure),
      median(ratios(pairs, figure)),
    ]);
    rows.push([what, pairs.length, ...cells, ...medianInterval(cpu)]);
    verdicts.push({ target: 'observed', what: `${what}: CPU with / without`, figure: median(cpu), limit: 1 + MOST_COST, wanted: 'most' });
  }
  const columns = ['', 'rounds', 'CPU us without', 'with', 'ratio', '/s without', 'with', 'ratio', 'CPU ratio from', 'to'];
  return {
    tables: [{ title: 'The cost of traces and of the figures of store and broker', columns, rows }],
    verdicts,
    notes: [
      'The last two columns hold the ratio with 95 % confidence. The CPU of a request is that of gateway, identity and bubbles-query.',
    ],
  };
};
