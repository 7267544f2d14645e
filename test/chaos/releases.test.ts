import { listDeadLetters } from '@bubbles/bus/operations/dead-letters.ts';
import { deadQueueName } from '@bubbles/bus/operations/topology.ts';
import { EVENTS } from '@bubbles/contracts/events/catalog.ts';
import { SERVICES } from '@bubbles/contracts/services.ts';
import { systemClock } from '@bubbles/kernel/clock.ts';
import type { Database } from '@bubbles/store/collection.ts';
import { openMongo } from '@bubbles/store/mongo.ts';
import { SILENT_LOG } from '@bubbles/testing/http.ts';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { SandboxUser } from '../../deploy/sandbox/src/control/bodies.ts';
import { send } from '../conformance/support/client.ts';
import { caughtMails } from '../conformance/support/stack-world.ts';
import { commitOf } from '../released/history.ts';
import { runningReleases } from '../released/releases.ts';
import { type Outside, openOutside } from '../support/outside.ts';
import { readModel } from '../support/read-model.ts';
import { type FrailEngines, frailEngines } from './support/engines.ts';
import { awaitFacts, type StatedFacts, stateFacts } from './support/facts-load.ts';
import { percentile, underHttpLoad } from './support/http-load.ts';
import { JOURNEYS, type JourneyScene } from './support/journeys.ts';
import { type MixedStack, mixedStack, type Side } from './support/mixed-stack.ts';
import { directoryOf, makePeople } from './support/people.ts';
import { report, scaled } from './support/scale.ts';
import { startVerifyingReceiver, type VerifyingReceiver } from './support/verifying-receiver.ts';
import { untilSo } from './support/within.ts';

/** Enough that none comes near a limit of its own. */
const PEOPLE = 48;
const PARTICIPANTS = 4;
const PER_SECOND = 25;
const RECORDINGS = scaled({ short: 10, long: 60 });
const PATHS = ['/v1/me', '/v1/bubbles?limit=5', '/v1/bubbles/search?q=recording', '/v1/teams', '/v1/meetings/join', '/v1/openapi.json'];
/** As docs/operating.md says; the way back is the reverse. */
const ORDER = ['gateway', 'bubbles-query', 'webhooks-dispatcher', 'identity-and-oauth', 'meetings-bot-gateway', 'signup'];
const TEAM = { name: 'Team', plan: 'pro', archived: false, domain: null, discoverable: false, trial_ends_at: null } as const;
const CONSUMERS = [...new Set(EVENTS.flatMap(({ consumers }) => consumers))];
const DEAD_QUEUES = CONSUMERS.map(deadQueueName);
/** The subscription that hears of every recording. */
const ALL = 'all';

/** `BESIDE` names a commit to run beside the tree, in the place of the releases that may still run. */
const beside = process.env['BESIDE'];
const RELEASES = beside === undefined ? runningReleases().map((release) => [`release ${release}`, commitOf(release)]) : [[beside, beside]];

describe.each(RELEASES)('processes of %s and of the tree on one store and broker', (_, commit) => {
  let engines: FrailEngines;
  let stack: MixedStack;
  let outside: Outside;
  let receiver: VerifyingReceiver;
  let database: Database;
  let people: readonly SandboxUser[];
  let scene: JourneyScene;
  const secrets = new Map<string, string>();
  const stated: StatedFacts[] = [];
  let documented: readonly string[] = [];
  let open: readonly (readonly [string, () => Promise<void>])[] = [];

  beforeAll(async () => {
    engines = await frailEngines();
    stack = mixedStack(engines, commit ?? '');
    await stack.up();
    const urlsOf = (service: string) => stack.plansOf(service).map(({ url }) => url);
    const access = {
      amqpUrl: engines.amqpUrl,
      operatorKeyFile: stack.operatorKeyFile,
      identityUrls: urlsOf('identity-and-oauth'),
      meetingsUrls: urlsOf('meetings-bot-gateway'),
    };
    const founder = await openOutside(access);
    people = await makePeople(founder, PEOPLE);
    const members = people.map(({ id }) => ({ user_id: id, role: 'admin', hidden: false }) as const);
    const { id: teamId } = await founder.actions.createTeam({ ...TEAM, members, channels: [] });
    await founder.close();
    const directory = { ...directoryOf(people), teamExists: (id: string) => Promise.resolve(id === teamId) };
    outside = await openOutside({ ...access, directory });
    database = openMongo({ url: engines.mongoUrl, name: SERVICES['bubbles-query'].database, log: SILENT_LOG, clock: systemClock() });
    receiver = await startVerifyingReceiver((path) => secrets.get(path) ?? '');
    scene = openScene(teamId);
    documented = await pathsAt(scene.gateway());
    expect(documented.length).toBeGreaterThan(20);
    const [first] = people;
    const body = { url: `${receiver.url}/${ALL}`, events: ['bubble.ready'] };
    const subscribed = await send(scene.gateway(), '/v1/webhooks', { method: 'POST', as: first?.pat, body });
    expect([subscribed.status, subscribed.text]).toEqual([201, expect.any(String)]);
    scene.keepSecret(ALL, subscribed.json.secret);
  });

  afterAll(async () => {
    await outside?.close();
    await database?.close();
    await receiver?.close();
    await stack?.close();
    await engines?.close();
  });

  const openScene = (teamId: string): JourneyScene => {
    const mails = caughtMails(stack.mailFolder);
    const [turns, gateways] = [{ person: 0, gateway: 0 }, gatewayUrls()];
    return {
      outside,
      teamId,
      codes: async (address) => (await mails(address)).map(({ text }) => /\b\d{6}\b/.exec(text)?.[0] ?? ''),
      receiverUrl: receiver.url,
      keepSecret: (path, secret) => void secrets.set(path, secret),
      keepJoin: () => undefined,
      somebody() {
        const person = people[turns.person++ % people.length];
        if (person === undefined) throw new Error('there is nobody');
        return person;
      },
      gateway: () => gateways[turns.gateway++ % gateways.length] ?? '',
    };
  };

  const named = async <T>(name: string, mixture: string, work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      throw new Error(`who ${name}, with ${mixture}: ${String(error)}`, { cause: error });
    }
  };

  const finish = async (mixture: string): Promise<void> => {
    const begun = open;
    open = [];
    await Promise.all(begun.map(([name, goOn]) => named(name, mixture, goOn)));
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
    const stating = stateFacts(outside, { count: RECORDINGS, participants: people.slice(0, PARTICIPANTS).map(({ id }) => id) });
    await Promise.all(Object.entries(services).map(([service, side]) => stack.become(service, side)));
    stated.push(await stating);
    for (const url of gatewayUrls()) expect({ mixture, undocumented: await undocumentedAt(url) }).toEqual({ mixture, undocumented: [] });
    await finish(mixture);
    open = await Promise.all(
      Object.entries(JOURNEYS).map(async ([name, begin]) => [name, await named(name, mixture, () => begin(scene))] as const),
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
    const tokens = people.map(({ pat }) => pat);
    const began = performance.now();
    const served = await underHttpLoad({ gateways: stack.plansOf('gateway'), tokens, paths: PATHS, perSecond: PER_SECOND }, work);
    const times = served.map(({ tookMs }) => tookMs);
    report(what, { requests: served.length, 'p99 ms': percentile(times, 0.99), seconds: (performance.now() - began) / 1000 });
    return served.filter(({ status }) => status !== 200).slice(0, 5);
  };

  /** What must not be, once all that was stated has arrived. */
  const faults = async () => {
    for (const facts of stated) await awaitFacts(outside, readModel(database), facts);
    const lasting = stated.flatMap(({ bubbleIds, removedIds }) => bubbleIds.filter((id) => !removedIds.includes(id)));
    const told = () => receiver.arrivals.filter(({ subscriptionId }) => subscriptionId === ALL);
    const untold = () => lasting.filter((id) => !told().some(({ bubbleId }) => bubbleId === id));
    const dead = async () => {
      const letters = CONSUMERS.map((consumer) => listDeadLetters({ url: engines.amqpUrl, consumer, limit: 3 }));
      return (await Promise.all(letters)).flat().map(({ queue, reason }) => `${queue}: ${reason}`);
    };
    const state = () => [
      dead().then((letters) => `dead letters: ${letters.join(', ')}`),
      `not told of ${untold().length}: ${untold().slice(0, 5).join(', ')}`,
    ];
    await untilSo({ what: 'every recording is told of', state }, () => untold().length === 0);
    const ids = Map.groupBy(told(), ({ bubbleId }) => bubbleId);
    const waiting = async () =>
      (await engines.queues()).filter(({ name, ready, unacknowledged }) => !DEAD_QUEUES.includes(name) && ready + unacknowledged > 0);
    await untilSo(
      { what: 'no message waits', state: () => [waiting().then((queues) => JSON.stringify(queues))] },
      async () => (await waiting()).length === 0,
    );
    report('recordings', { ready: lasting.length, POSTs: told().length, repeated: told().length - ids.size });
    return {
      toldTwice: [...ids].filter(([, arrivals]) => new Set(arrivals.map(({ deliveryId }) => deliveryId)).size > 1),
      forged: receiver.forged,
      deadLetters: await dead(),
    };
  };

  it('knows each service', () => expect(ORDER.toSorted()).toEqual(stack.services.toSorted()));

  it('each service of the tree among those of the release, and all of it after the other', async () => {
    const failed = await underLoad('upgrade', async () => {
      await eachAlone('new', 'old');
      await changeAll('new', ORDER);
    });
    expect(failed).toEqual([]);
    expect(await faults()).toEqual({ toldTwice: [], forged: 0, deadLetters: [] });
  });

  it('each service of the release among those of the tree, and all of it back', async () => {
    const failed = await underLoad('way back', async () => {
      await eachAlone('old', 'new');
      await changeAll('old', ORDER.toReversed());
    });
    expect(failed).toEqual([]);
    expect(await faults()).toEqual({ toldTwice: [], forged: 0, deadLetters: [] });
  });
});
