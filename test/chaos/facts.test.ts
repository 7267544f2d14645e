import { queueName } from '@bubbles/bus/bus.ts';
import { listDeadLetters, ORIGIN_HEADER, redrive } from '@bubbles/bus/operations/dead-letters.ts';
import { deadQueueName, EVENTS_EXCHANGE, withChannel } from '@bubbles/bus/operations/topology.ts';
import { MediaProcessedV1 } from '@bubbles/contracts/events/recording-events.ts';
import { BubbleReadyV1 } from '@bubbles/contracts/events/service-events.ts';
import { systemClock } from '@bubbles/kernel/clock.ts';
import type { Database } from '@bubbles/store/collection.ts';
import { openMongo } from '@bubbles/store/mongo.ts';
import { SILENT_LOG } from '@bubbles/testing/http.ts';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Outside, openOutside } from '../support/outside.ts';
import { type ReadModel, readModel } from '../support/read-model.ts';
import { type ChaosStack, chaosStack } from './support/chaos-stack.ts';
import { type FrailEngines, frailEngines } from './support/engines.ts';
import { awaitFacts, stateFacts } from './support/facts-load.ts';
import { directoryOf, makePeople, renameUntilTaken } from './support/people.ts';
import { report, scaled } from './support/scale.ts';
import { untilSo } from './support/within.ts';

const BUBBLES = scaled({ short: 320, long: 3000 });
/** So that the load lasts as long as the kills. */
const PACE_MS = 700;
const PEOPLE = 10;
const RENAMES = scaled({ short: 40, long: 400 });
const CONSUMER = 'bubbles-query';
const clock = systemClock();

let engines: FrailEngines;
let stack: ChaosStack;
let outside: Outside;
let database: Database;
let model: ReadModel;
let people: readonly string[];

beforeAll(async () => {
  engines = await frailEngines();
  stack = await chaosStack(engines);
  const access = { amqpUrl: engines.amqpUrl, operatorKeyFile: stack.operatorKeyFile };
  const identityUrls = stack.plansOf('identity-and-oauth').map(({ url }) => url);
  const founder = await openOutside({ ...access, identityUrls });
  const users = await makePeople(founder, PEOPLE);
  await founder.close();
  people = users.map(({ id }) => id);
  outside = await openOutside({ ...access, identityUrls, directory: directoryOf(users) });
  database = openMongo({ url: engines.mongoUrl, name: 'bubbles_query', log: SILENT_LOG, clock });
  model = readModel(database);
});

afterAll(async () => {
  await outside?.close();
  await database?.close();
  await stack?.close();
  await engines?.close();
});

interface Told {
  /** Under which ids, and how often in all. */
  readonly ids: Set<string>;
  readonly copies: number;
}

/** What was told of which bubble to be ready, once it was told of all of these. The messages go. */
const readyOf = async (bubbleIds: readonly string[]): Promise<ReadonlyMap<string, Told>> => {
  const told = new Map<string, Told>();
  const untold = () => bubbleIds.filter((id) => !told.has(id));
  // A relay that takes over from one that was killed waits for the end of its claim.
  await untilSo({ what: 'each bubble is ready', state: () => [`not told of: ${untold().join(', ')}`] }, async () => {
    for (const { id, bubbleId } of await takeReady()) {
      const { ids, copies } = told.get(bubbleId) ?? { ids: new Set(), copies: 0 };
      told.set(bubbleId, { ids: ids.add(id), copies: copies + 1 });
    }
    return untold().length === 0;
  });
  return told;
};

const takeReady = () =>
  withChannel(engines.amqpUrl, async (channel) => {
    const events: { readonly id: string; readonly bubbleId: string }[] = [];
    const queue = queueName('webhooks-dispatcher', BubbleReadyV1.type);
    for (let message = await channel.get(queue); message !== false; message = await channel.get(queue)) {
      const event = JSON.parse(message.content.toString());
      events.push({ id: event.id, bubbleId: event.data.bubble.id });
      channel.ack(message);
    }
    return events;
  });

const deadLetters = async () => [
  ...(await listDeadLetters({ url: engines.amqpUrl, consumer: CONSUMER, limit: 10 })),
  ...(await listDeadLetters({ url: engines.amqpUrl, consumer: 'webhooks-dispatcher', limit: 10 })),
];

/** Kills and revives one after the other, each when so much of the load is done. */
const saboteur = (acts: readonly { readonly at: number; readonly act: () => Promise<void> }[]) => {
  const left = acts.toSorted((one, other) => one.at - other.at);
  let working = Promise.resolve();
  return {
    onProgress: (done: number) => {
      while (left[0] !== undefined && done >= left[0].at) {
        const { act } = left[0];
        left.shift();
        working = working.then(act);
      }
    },
    finished: async () => {
      await working;
      return left.length;
    },
  };
};

describe('facts while processes and the broker are killed', () => {
  const [shortRounds, longRounds] = [1, 4];
  const rounds = scaled({ short: shortRounds, long: longRounds });

  const killAndStart = (service: 'bubbles-query' | 'identity-and-oauth', index: number) => async () => {
    const plan = stack.plansOf(service)[index];
    if (plan === undefined) throw new Error('there is no such process');
    await stack.kill(plan);
    report(`${plan.name} killed`, { 'ready again after ms': await stack.start(plan) });
  };
  const killBroker = async () => {
    await engines.kill('broker');
    const began = performance.now();
    await engines.revive();
    report('broker killed', { 'answers again after ms': performance.now() - began });
  };
  const actsOf = (round: number) => {
    const at = (share: number) => Math.floor((BUBBLES * (round + share)) / rounds);
    return [
      { at: at(0.1), act: killAndStart('bubbles-query', 0) },
      { at: at(0.25), act: killAndStart('identity-and-oauth', 0) },
      { at: at(0.4), act: killBroker },
      { at: at(0.6), act: killAndStart('bubbles-query', 1) },
      { at: at(0.8), act: killAndStart('identity-and-oauth', 1) },
    ];
  };

  it('[EVT-01] [DLV-05] [F1] [F7] [F8] nothing is lost, nothing is done twice, and each bubble is ready once', async () => {
    const sabotage = saboteur(Array.from({ length: rounds }, (_, round) => actsOf(round)).flat());
    const began = performance.now();
    const renaming = Array.from({ length: RENAMES }, (_, n) => n).reduce(
      (before, n) => before.then(() => renameUntilTaken(outside, people[n % PEOPLE] ?? '', `Renamed ${n}`)),
      Promise.resolve(),
    );
    const load = { count: BUBBLES, participants: people.slice(0, 4), paceMs: PACE_MS, onProgress: sabotage.onProgress };
    const facts = await stateFacts(outside, load);
    const statedMs = performance.now() - began;
    expect(await sabotage.finished()).toBe(0);
    await renaming;
    await awaitFacts(outside, model, facts);
    const seconds = (performance.now() - began) / 1000;

    const accounts = await Promise.all(people.map((id) => outside.identity.account(id)));
    await expectPeople(accounts.filter((account) => account !== null));
    await expectExactly(facts);
    const lasting = facts.bubbleIds.filter((id) => !facts.removedIds.includes(id));
    const told = await readyOf(lasting);
    expect(lasting.filter((id) => told.get(id)?.ids.size !== 1)).toEqual([]);
    expect(facts.removedIds.filter((id) => (told.get(id)?.ids.size ?? 0) > 1)).toEqual([]);
    expect(told.size).toBeLessThanOrEqual(facts.bubbleIds.length);
    expect(await deadLetters()).toEqual([]);
    const copies = [...told.values()].reduce((sum, ready) => sum + ready.copies, 0);
    report('facts', {
      events: facts.events,
      seconds,
      'stated in s': statedMs / 1000,
      'events/s': facts.events / seconds,
      ready: told.size,
      'ready messages': copies,
    });
    expect(facts.events).toBeGreaterThanOrEqual(scaled({ short: 2000, long: 20_000 }));
  });

  const expectPeople = async (accounts: Parameters<ReadModel['missingPeople']>[0]) => {
    let missing: readonly string[] = [];
    const isKnown = async () => {
      missing = await model.missingPeople(accounts);
      return missing.length === 0;
    };
    await expect(untilSo({ what: 'people are known', state: () => missing }, isKnown)).resolves.toBeUndefined();
  };

  /** Not a revision more than was stated, one comment each, and nothing left of what was removed. */
  const expectExactly = async ({ bubbleIds, removedIds, commentIds }: Awaited<ReturnType<typeof stateFacts>>) => {
    const lasting = bubbleIds.filter((id) => !removedIds.includes(id));
    const stated = new Map((await outside.stated.bubbles.find({})).map(({ _id, revisions }) => [_id, revisions]));
    const stored = await database.collection<StoredBubble>('bubbles').find({ removed: false });
    expect(stored.map(({ _id }) => _id).toSorted()).toEqual(lasting.toSorted());
    for (const bubble of stored) {
      const of = (group: StoredGroup | null) => group?.revision ?? 0;
      const { details, media, transcript, notes } = bubble;
      expect({ details: of(details), media: of(media), transcript: of(transcript), notes: of(notes) }).toEqual(stated.get(bubble._id));
      expect(bubble.commentCount).toBe(1);
    }
    // What is out of sight at once goes a moment later.
    const leftTranscripts = async () => (await database.collection('transcripts').find({})).filter(({ _id }) => removedIds.includes(_id));
    const comments = () => database.collection('comments').count({});
    const remaining = commentIds.length - removedIds.length;
    await untilSo(
      { what: 'what was removed is deleted' },
      async () => (await leftTranscripts()).length === 0 && (await comments()) <= remaining,
    );
    expect(await comments()).toBe(remaining);
  };
});

interface StoredGroup {
  readonly revision: number;
}
interface StoredBubble {
  readonly _id: string;
  readonly details: StoredGroup | null;
  readonly media: StoredGroup | null;
  readonly transcript: StoredGroup | null;
  readonly notes: StoredGroup | null;
  readonly removed: boolean;
  readonly commentCount: number;
}

describe('a message that nobody can take', () => {
  const publishPoison = (body: string) =>
    withChannel(engines.amqpUrl, async (channel) => {
      channel.publish(EVENTS_EXCHANGE, MediaProcessedV1.type, Buffer.from(body), { persistent: true, messageId: 'poison' });
      await channel.waitForConfirms();
    });
  const untilDead = async (count: number) => {
    let dead: Awaited<ReturnType<typeof deadLetters>> = [];
    const state = () => [`dead: ${dead.map(({ messageId, reason }) => `${messageId} (${reason})`).join(', ')}`];
    await untilSo({ what: `${count} dead letters`, state }, async () => {
      dead = await deadLetters();
      return dead.length >= count;
    });
    return dead;
  };

  it('lies in the dead-letter queue with its reason, and holds nobody up', async () => {
    await publishPoison('{"not": "an event"}');
    const facts = await stateFacts(outside, { count: 12, participants: people.slice(0, 2) });
    const arrivedMs = await awaitFacts(outside, model, facts);
    const [dead, ...more] = await untilDead(1);
    expect(more).toEqual([]);
    expect(dead).toMatchObject({ messageId: 'poison', queue: queueName(CONSUMER, MediaProcessedV1.type), body: '{"not": "an event"}' });
    expect(dead?.reason).not.toBe('');
    report('poison', { 'others arrived after ms': arrivedMs, reason: dead?.reason ?? '' });
  });

  it('goes back where it was when it is redriven: what can be taken by then is taken, and poison is dead-lettered again', async () => {
    const facts = await stateFacts(outside, { count: 1, participants: people.slice(0, 1) });
    await awaitFacts(outside, model, facts);
    const [bubbleId = ''] = facts.bubbleIds;
    const mended = {
      bubble_id: bubbleId,
      revision: 7,
      is_processed: true,
      has_audio: true,
      video_url: null,
      thumbnail_url: null,
      screenshot_url: null,
      duration_seconds: 61,
    };
    await withChannel(engines.amqpUrl, async (channel) => {
      const event = {
        specversion: '1.0',
        id: 'mended',
        source: 'test',
        type: MediaProcessedV1.type,
        time: clock.now().toISOString(),
        datacontenttype: 'application/json',
        data: mended,
      };
      const headers = { [ORIGIN_HEADER]: queueName(CONSUMER, MediaProcessedV1.type) };
      channel.sendToQueue(deadQueueName(CONSUMER), Buffer.from(JSON.stringify(event)), { persistent: true, messageId: 'mended', headers });
      await channel.waitForConfirms();
    });
    expect(await untilDead(2)).toHaveLength(2);
    // Those that were listed are back a moment after the channel that read them was closed.
    await untilSo({ what: 'both lie in the queue' }, () =>
      withChannel(engines.amqpUrl, async (channel) => (await channel.checkQueue(deadQueueName(CONSUMER))).messageCount === 2),
    );
    expect(await redrive({ url: engines.amqpUrl, consumer: CONSUMER })).toEqual({ moved: 2, kept: 0 });
    const bubbles = database.collection<StoredBubble>('bubbles');
    const media = async () => (await bubbles.findOne({ _id: bubbleId }))?.media;
    const state = () => [media().then((stored) => `stored: ${JSON.stringify(stored)}`)];
    await untilSo({ what: `revision 7 of ${bubbleId}`, state }, async () => (await media())?.revision === 7);
    expect((await untilDead(1)).map(({ messageId }) => messageId)).toEqual(['poison']);
  });
});
