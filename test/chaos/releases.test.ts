import { deadQueueName } from '@bubbles/bus/operations/topology.ts';
import { EVENTS } from '@bubbles/contracts/events/catalog.ts';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { send } from '../conformance/support/client.ts';
import { caughtMails } from '../conformance/support/stack-world.ts';
import { commitOf } from '../released/history.ts';
import { runningReleases } from '../released/releases.ts';
import { type Crowd, NO_FAULTS, openCrowd } from './support/crowd.ts';
import { type FrailEngines, frailEngines } from './support/engines.ts';
import { percentile, underHttpLoad } from './support/http-load.ts';
import { JOURNEYS } from './support/journeys.ts';
import { type MixedStack, mixedStack, type Side } from './support/mixed-stack.ts';
import { report, scaled } from './support/scale.ts';
import { untilSo } from './support/within.ts';

/** The packages of a release may come from a registry. */
const INSTALL_LIMIT_MS = 10 * 60_000;
/** Each replaces every process twice. */
const ALL_LIMIT_MS = scaled({ short: 15 * 60_000, long: 30 * 60_000 });
/** More of them would keep each other waiting on a slow machine until requests are refused. */
const JOURNEYS_AT_ONCE = 2;
const PER_SECOND = 25;
const RECORDINGS = scaled({ short: 10, long: 60 });
const PATHS = ['/v1/me', '/v1/bubbles?limit=5', '/v1/bubbles/search?q=recording', '/v1/teams', '/v1/meetings/join', '/v1/openapi.json'];
/** As docs/operating.md says; the way back is the reverse. */
const ORDER = ['gateway', 'bubbles-query', 'webhooks-dispatcher', 'identity-and-oauth', 'meetings-bot-gateway', 'signup'];
const CONSUMERS = [...new Set(EVENTS.flatMap(({ consumers }) => consumers))];
const DEAD_QUEUES = CONSUMERS.map(deadQueueName);

/** `BESIDE` names a commit to run beside the tree, in the place of the releases that may still run. */
const beside = process.env['BESIDE'];
const RELEASES = beside === undefined ? runningReleases().map((release) => [`release ${release}`, commitOf(release)]) : [[beside, beside]];

describe.each(RELEASES)('processes of %s and of the tree on one store and broker', (_, commit) => {
  let engines: FrailEngines;
  let stack: MixedStack;
  let crowd: Crowd;
  let documented: readonly string[] = [];
  let open: readonly (readonly [string, () => Promise<void>])[] = [];

  beforeAll(async () => {
    engines = await frailEngines();
    stack = mixedStack(engines, commit ?? '');
    await stack.up();
    const urlsOf = (service: string) => stack.plansOf(service).map(({ url }) => url);
    const mails = caughtMails(stack.mailFolder);
    crowd = await openCrowd({
      ...{ amqpUrl: engines.amqpUrl, deadLettersUrl: engines.amqpUrl, mongoUrl: engines.mongoUrl, operatorKeyFile: stack.operatorKeyFile },
      ...{ identityUrls: urlsOf('identity-and-oauth'), meetingsUrls: urlsOf('meetings-bot-gateway'), gatewayUrls: gatewayUrls() },
      codes: async (address) => (await mails(address)).map(({ text }) => /\b\d{6}\b/.exec(text)?.[0] ?? ''),
    });
    documented = await pathsAt(crowd.scene.gateway());
    expect(documented.length).toBeGreaterThan(20);
  }, INSTALL_LIMIT_MS);

  afterAll(async () => {
    await crowd?.close();
    await stack?.close();
    await engines?.close();
  });

  const named = async <T>(name: string, mixture: string, work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      throw new Error(`who ${name}, with ${mixture}: ${String(error)}`, { cause: error });
    }
  };

  const fewAtOnce = async <T, R>(all: readonly T[], work: (one: T) => Promise<R>): Promise<readonly R[]> => {
    const done: R[] = [];
    for (let n = 0; n < all.length; n += JOURNEYS_AT_ONCE)
      for (const one of await Promise.all(all.slice(n, n + JOURNEYS_AT_ONCE).map(work))) done.push(one);
    return done;
  };

  const finish = async (mixture: string): Promise<void> => {
    const begun = open;
    open = [];
    await fewAtOnce(begun, ([name, goOn]) => named(name, mixture, goOn));
  };

  const gatewayUrls = () => stack.plansOf('gateway').map(({ url }) => url);
  const pathsAt = async (url: string): Promise<readonly string[]> => Object.keys((await send(url, '/v1/openapi.json')).json.paths);
  /** The paths that the document of this gateway lacks, and that of the release alone had. */
  const undocumentedAt = async (url: string): Promise<readonly string[]> => {
    const shown = await pathsAt(url);
    return documented.filter((path) => !shown.includes(path));
  };

  /** Recordings come in while services change their release; then everybody goes on with what they began before, and begins again. */
  const change = async (mixture: string, services: Readonly<Record<string, Side>>): Promise<void> => {
    const recording = crowd.record({ count: RECORDINGS });
    await Promise.all(Object.entries(services).map(([service, side]) => stack.become(service, side)));
    await recording;
    for (const url of gatewayUrls()) expect({ mixture, undocumented: await undocumentedAt(url) }).toEqual({ mixture, undocumented: [] });
    await finish(mixture);
    open = await fewAtOnce(
      Object.entries(JOURNEYS),
      async ([name, begin]) => [name, await named(name, mixture, () => begin(crowd.scene))] as const,
    );
  };
  const changeAll = async (side: Side, order: readonly string[]): Promise<void> => {
    for (const service of order) await change(`everything on its way to the ${side} one, ${service} just now`, { [service]: side });
    await finish(`everything of the ${side} one`);
  };
  /** All of one release but one service of the other, each in turn. */
  const eachAlone = async (side: Side, others: Side): Promise<void> => {
    for (const [n, service] of stack.services.entries()) {
      const before = stack.services[n - 1];
      await change(`the ${side} ${service} among the ${others}`, { ...(before !== undefined && { [before]: others }), [service]: side });
    }
  };

  const underLoad = async (what: string, work: () => Promise<void>) => {
    const tokens = crowd.people.map(({ pat }) => pat);
    const began = performance.now();
    const served = await underHttpLoad({ gateways: stack.plansOf('gateway'), tokens, paths: PATHS, perSecond: PER_SECOND }, work);
    const times = served.map(({ tookMs }) => tookMs);
    report(what, { requests: served.length, 'p99 ms': percentile(times, 0.99), seconds: (performance.now() - began) / 1000 });
    return served.filter(({ status }) => status !== 200).slice(0, 5);
  };

  /** What must not be, once all that was stated has arrived. */
  const faults = async () => {
    const found = await crowd.faults();
    const waiting = async () =>
      (await engines.queues()).filter(({ name, ready, unacknowledged }) => !DEAD_QUEUES.includes(name) && ready + unacknowledged > 0);
    await untilSo(
      { what: 'no message waits', state: () => [waiting().then((queues) => JSON.stringify(queues))] },
      async () => (await waiting()).length === 0,
    );
    return found;
  };

  it('knows each service', () => expect(ORDER.toSorted()).toEqual(stack.services.toSorted()));

  it(
    'each service of the tree among those of the release, and all of it after the other',
    async () => {
      const failed = await underLoad('upgrade', async () => {
        await eachAlone('new', 'old');
        await changeAll('new', ORDER);
      });
      expect(failed).toEqual([]);
      expect(await faults()).toEqual(NO_FAULTS);
    },
    ALL_LIMIT_MS,
  );

  it(
    'each service of the release among those of the tree, and all of it back',
    async () => {
      const failed = await underLoad('way back', async () => {
        await eachAlone('old', 'new');
        await changeAll('old', ORDER.toReversed());
      });
      expect(failed).toEqual([]);
      expect(await faults()).toEqual(NO_FAULTS);
    },
    ALL_LIMIT_MS,
  );
});
