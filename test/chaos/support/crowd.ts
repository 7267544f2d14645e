import { listDeadLetters } from '@bubbles/bus/operations/dead-letters.ts';
import { EVENTS } from '@bubbles/contracts/events/catalog.ts';
import { SERVICES } from '@bubbles/contracts/services.ts';
import { systemClock } from '@bubbles/kernel/clock.ts';
import { openMongo } from '@bubbles/store/mongo.ts';
import { SILENT_LOG } from '@bubbles/testing/http.ts';
import type { SandboxUser } from '../../../deploy/sandbox/src/control/bodies.ts';
import { send } from '../../conformance/support/client.ts';
import { type OutsideOptions, openOutside } from '../../support/outside.ts';
import { readModel } from '../../support/read-model.ts';
import { awaitFacts, type StatedFacts, stateFacts } from './facts-load.ts';
import type { JourneyScene } from './journeys.ts';
import { directoryOf, makePeople } from './people.ts';
import { report } from './scale.ts';
import { startVerifyingReceiver } from './verifying-receiver.ts';
import { untilSo } from './within.ts';

interface CrowdOptions extends Omit<OutsideOptions, 'directory'> {
  readonly gatewayUrls: readonly string[];
  readonly mongoUrl: string;
  /** Of a user that may read what was dead-lettered. */
  readonly deadLettersUrl: string;
  readonly codes: JourneyScene['codes'];
  /** Where the product finds receivers. */
  readonly receiverHost?: string;
}

/** What is wrong, once all that was stated has arrived. */
interface Faults {
  /** Recordings that were told of under two delivery ids. */
  readonly toldTwice: readonly string[];
  readonly forged: number;
  readonly deadLetters: readonly string[];
  /** Joins that were answered and have no notetaker, and meetings that have two. */
  readonly notetakers: readonly string[];
}

export const NO_FAULTS: Faults = { toldTwice: [], forged: 0, deadLetters: [], notetakers: [] };

/** People of one team outside of a product that runs as processes, with a recording pipeline, and a receiver that is told of every recording. */
export interface Crowd {
  readonly people: readonly SandboxUser[];
  readonly scene: JourneyScene;
  /** Recordings come in. */
  record(load: { readonly count: number; readonly paceMs?: number }): Promise<void>;
  /** How many POSTs told of a recording again. */
  readonly repeated: number;
  /** Waits for what was recorded to be read and told of. */
  faults(): Promise<Faults>;
  close(): Promise<void>;
}

/** Enough that none comes near a limit of its own. */
const PEOPLE = 48;
const PARTICIPANTS = 4;
const TEAM = { name: 'Team', plan: 'pro', archived: false, domain: null, discoverable: false, trial_ends_at: null } as const;
const CONSUMERS = [...new Set(EVENTS.flatMap(({ consumers }) => consumers))];
/** The subscription that hears of every recording. */
const ALL = 'all';

export const openCrowd = async (options: CrowdOptions): Promise<Crowd> => {
  const founder = await openOutside(options);
  const people = await makePeople(founder, PEOPLE);
  const members = people.map(({ id }) => ({ user_id: id, role: 'admin', hidden: false }) as const);
  const { id: teamId } = await founder.actions.createTeam({ ...TEAM, members, channels: [] });
  await founder.close();
  const directory = { ...directoryOf(people), teamExists: (id: string) => Promise.resolve(id === teamId) };
  const outside = await openOutside({ ...options, directory });
  const secrets = new Map<string, string>();
  const receiver = await startVerifyingReceiver((path) => secrets.get(path) ?? '', options.receiverHost);
  const stated: StatedFacts[] = [];
  const joins = new Set<string>();
  const turns = { person: 0, gateway: 0 };
  const inTurn = <T>(all: readonly T[], turn: keyof typeof turns): T => {
    const one = all[turns[turn]++ % all.length];
    if (one === undefined) throw new Error(`there is no ${turn}`);
    return one;
  };
  const scene: JourneyScene = {
    ...{ outside, teamId, codes: options.codes, receiverUrl: receiver.url },
    keepSecret: (path, secret) => void secrets.set(path, secret),
    keepJoin: (id) => void joins.add(id),
    somebody: () => inTurn(people, 'person'),
    gateway: () => inTurn(options.gatewayUrls, 'gateway'),
  };
  const body = { url: `${receiver.url}/${ALL}`, events: ['bubble.ready'] };
  const subscribed = await send(scene.gateway(), '/v1/webhooks', { method: 'POST', as: people[0]?.pat, body });
  if (subscribed.status !== 201) throw new Error(`nobody is subscribed: ${subscribed.text}`);
  secrets.set(ALL, subscribed.json.secret);

  const told = () => receiver.arrivals.filter(({ subscriptionId }) => subscriptionId === ALL);
  const byBubble = () => Map.groupBy(told(), ({ bubbleId }) => bubbleId);
  const repeated = () => told().length - byBubble().size;
  const deadLetters = async (): Promise<readonly string[]> => {
    const read = CONSUMERS.map((consumer) => listDeadLetters({ url: options.deadLettersUrl, consumer, limit: 3 }));
    return (await Promise.all(read)).flat().map(({ queue, reason }) => `${queue}: ${reason}`);
  };
  const untilRead = async () => {
    const name = SERVICES['bubbles-query'].database;
    const database = openMongo({ url: options.mongoUrl, name, log: SILENT_LOG, clock: systemClock() });
    for (const facts of stated) await awaitFacts(outside, readModel(database), facts);
    await database.close();
  };
  const untilTold = async () => {
    const lasting = stated.flatMap(({ bubbleIds, removedIds }) => bubbleIds.filter((id) => !removedIds.includes(id)));
    const untold = () => {
      const known = byBubble();
      return lasting.filter((id) => !known.has(id));
    };
    const state = () => [
      deadLetters().then((letters) => `dead letters: ${letters.join(', ')}`),
      `not told of ${untold().length}: ${untold().slice(0, 5).join(', ')}`,
    ];
    await untilSo({ what: 'every recording is told of', state }, () => untold().length === 0);
    report('recordings', { ready: lasting.length, POSTs: told().length, repeated: repeated() });
  };
  const wrongNotetakers = async (): Promise<readonly string[]> => {
    const runs = await outside.actions.listNotetakers();
    const sent = new Set(runs.map(({ join_id }) => join_id));
    const meetings = Map.groupBy(runs, ({ meeting_url }) => meeting_url);
    return [
      ...[...joins].filter((id) => !sent.has(id)).map((id) => `none for ${id}`),
      ...[...meetings].filter(([url, those]) => url !== null && those.length > 1).map(([url]) => `two in ${url}`),
    ];
  };

  return {
    ...{ people, scene },
    async record(load) {
      stated.push(await stateFacts(outside, { ...load, participants: people.slice(0, PARTICIPANTS).map(({ id }) => id) }));
    },
    get repeated() {
      return repeated();
    },
    async faults() {
      await untilRead();
      await untilTold();
      const isTwo = (ids: readonly string[]) => new Set(ids).size > 1;
      return {
        toldTwice: [...byBubble()].filter(([, those]) => isTwo(those.map(({ deliveryId }) => deliveryId))).map(([id]) => id),
        forged: receiver.forged,
        deadLetters: await deadLetters(),
        notetakers: await wrongNotetakers(),
      };
    },
    async close() {
      await outside.close();
      await receiver.close();
    },
  };
};
