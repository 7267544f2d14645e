import { setTimeout as pauseMs } from 'node:timers/promises';
import { queueName } from '@bubbles/bus/bus.ts';
import { declareTopology, withChannel } from '@bubbles/bus/operations/topology.ts';
import { BubbleReadyV1 } from '@bubbles/contracts/events/service-events.ts';
import { systemClock } from '@bubbles/kernel/clock.ts';
import { type Child, startChild } from '../harness/children.ts';
import { type Dispatcher, type Receiver, received, SECRET, startDispatcher } from '../harness/dispatcher.ts';
import type { Cell, Part, Verdict } from '../harness/part.ts';
import { median, pairedRatio, percentile } from '../harness/statistics.ts';
import type { CommandCounts } from '../processes/mongo-server.ts';
import type { Publishing } from '../processes/publisher.ts';

const CONSUMER = 'webhooks-dispatcher';
/** Each has one subscription. */
const OWNERS = 64;
const POLL_MS = 5;
const WARM_DELIVERIES = 500;
const LIMITS = { lone: 4, saturated: 0.5, lagAt100: 5, lagAt500: 10 } as const;

/** Everything between a publisher and a receiver that verifies. */
interface Line {
  readonly store: Child<{ readonly url: string }>;
  readonly publisher: Child<object>;
  readonly receiver: Receiver;
  readonly dispatcher: Dispatcher;
  readonly owners: readonly string[];
}

const openLine = async (amqpUrl: string): Promise<Line> => {
  const queue = queueName(CONSUMER, BubbleReadyV1.type);
  await withChannel(amqpUrl, async (channel) => void (await channel.deleteQueue(queue)));
  await declareTopology({ url: amqpUrl, definitions: [{ ...BubbleReadyV1, consumers: [CONSUMER] }], clock: systemClock() });
  const store: Line['store'] = await startChild({ module: 'processes/mongo-server.ts', core: 'rest' });
  const receiver: Receiver = await startChild({ module: 'processes/verifying-receiver.ts', settings: { secret: SECRET }, core: 'rest' });
  const publisher: Line['publisher'] = await startChild({ module: 'processes/publisher.ts', settings: { url: amqpUrl }, core: 'rest' });
  const dispatcher = await startDispatcher({ mongoUrl: store.ready.url, amqpUrl });
  const owners = Array.from({ length: OWNERS }, (_, n) => `owner-${n}`);
  for (const owner of owners) await dispatcher.perform({ task: 'subscribe', owner, url: receiver.ready.url, count: 1 });
  return { store, publisher, receiver, dispatcher, owners };
};

interface Figures {
  readonly ms: number;
  readonly lags: readonly number[];
  readonly commands: number;
  readonly byCommand: CommandCounts;
  readonly cpuMs: number;
}

/** What this number of deliveries cost, counted from `begin` to the last POST. */
const measured = async ({ store, receiver, dispatcher }: Line, count: number, begin: () => Promise<unknown>): Promise<Figures> => {
  await received(receiver);
  await store.ask('counts');
  const [began, cpuMs] = [performance.now(), dispatcher.cpuMs()];
  const begun = begin();
  const lags: number[] = [];
  for (let arrived = 0; arrived < count; ) {
    await pauseMs(POLL_MS);
    const some = await received(receiver);
    arrived += some.answered;
    for (const lag of some.lags) lags.push(lag);
  }
  const ms = performance.now() - began;
  await begun;
  const byCommand = await store.ask<CommandCounts>('counts');
  const commands = Object.values(byCommand).reduce((sum, n) => sum + n, 0);
  return { ms, lags, commands: commands / count, byCommand, cpuMs: (dispatcher.cpuMs() - cpuMs) / count };
};

const publish = ({ publisher, owners }: Line, count: number, perSecond: number | null): Promise<unknown> =>
  publisher.ask({ owners, count, perSecond } satisfies Publishing);

const lone = (line: Line, perSecond: number, seconds: number): Promise<Figures> =>
  measured(line, perSecond * seconds, () => publish(line, perSecond * seconds, perSecond));

/** From the first message that is taken of a queue that is full to the last POST. */
const saturated = async (amqpUrl: string, count: number) => {
  const line = await openLine(amqpUrl);
  await publish(line, count, null);
  const figures = await measured(line, count, () => line.dispatcher.perform({ task: 'consume' }));
  const bare = await line.dispatcher.perform({ task: 'bare', url: line.receiver.ready.url, count, atOnce: OWNERS });
  await closeLine(line);
  return { ...figures, perSecond: (count * 1000) / figures.ms, barePerSecond: (count * 1000) / bare.ms };
};

const closeLine = async ({ store, publisher, receiver, dispatcher }: Line): Promise<void> => {
  await dispatcher.stop();
  await Promise.all([publisher.stop(), receiver.stop(), store.stop()]);
};

const most = (what: string, figure: number, limit: number): Verdict => ({ target: 'W3', what, figure, limit, wanted: 'most' });

const p95 = ({ lags }: Figures): number => percentile(lags, 0.95);
const perDelivery = (name: string, { byCommand }: Figures, count: number): readonly (readonly Cell[])[] =>
  Object.entries(byCommand).map(([command, n]) => [name, command, n / count]);

/** From a publish to the POST: one dispatcher process with a broker, and a store that it reaches with the official driver. */
export const deliveriesWire: Part = async ({ quick }) => {
  const amqpUrl = process.env['AMQP_URL'];
  if (amqpUrl === undefined)
    return { tables: [], verdicts: [], notes: ['Nothing was measured: set AMQP_URL to what npm run engines -- up prints.'] };
  const plan = quick ? { seconds: 3, rounds: 1, count: 3000 } : { seconds: 8, rounds: 3, count: 6000 };
  const line = await openLine(amqpUrl);
  await line.dispatcher.perform({ task: 'consume' });
  await measured(line, WARM_DELIVERIES, () => publish(line, WARM_DELIVERIES, null));
  const at100 = await lone(line, 100, plan.seconds);
  const at500 = await lone(line, 500, plan.seconds);
  await closeLine(line);
  const runs: Awaited<ReturnType<typeof saturated>>[] = [];
  for (let round = 0; round < plan.rounds; round += 1) runs.push(await saturated(amqpUrl, plan.count));
  const commands = median(runs.map((run) => run.commands));
  const ratio = pairedRatio(
    runs.map(({ perSecond }) => perSecond),
    runs.map(({ barePerSecond }) => barePerSecond),
  );
  const lagRow = (name: string, figures: Figures): readonly Cell[] => [
    name,
    median(figures.lags),
    p95(figures),
    figures.commands,
    figures.cpuMs,
  ];
  const last = runs.at(-1);
  return {
    tables: [
      {
        title: 'Lone deliveries, from publish to POST',
        columns: ['load', 'p50 ms', 'p95 ms', 'commands each', 'CPU ms each'],
        rows: [lagRow('100 a second', at100), lagRow('500 a second', at500)],
      },
      {
        title: 'A full queue worked off',
        columns: ['round', 'a second', 'x bare', 'commands each', 'CPU ms each'],
        rows: runs.map((run, n) => [`round ${n}`, run.perSecond, run.perSecond / run.barePerSecond, run.commands, run.cpuMs]),
      },
      {
        title: 'Commands of a delivery',
        columns: ['load', 'command', 'each'],
        rows: [
          ...perDelivery('100 a second', at100, 100 * plan.seconds),
          ...perDelivery('500 a second', at500, 500 * plan.seconds),
          ...(last === undefined ? [] : perDelivery('full queue', last, plan.count)),
        ],
      },
    ],
    verdicts: [
      most('store commands for a lone delivery', at100.commands, LIMITS.lone),
      most('store commands a delivery, full queue', commands, LIMITS.saturated),
      most('p95 of the lag at 100 a second, ms', p95(at100), LIMITS.lagAt100),
      most('p95 of the lag at 500 a second, ms', p95(at500), LIMITS.lagAt500),
    ],
    notes: [`A full queue is worked off at ${ratio.toFixed(2)} of bare undici.request to the same receiver.`],
  };
};
