import type { Database, Doc, IndexSpec } from '@bubbles/store/collection.ts';
import { memoryDatabase } from '@bubbles/testing/memory-database.ts';
import { describe, expect, it } from '@jest/globals';
import { startBubbles } from './bubbles-query.ts';
import { account, BUBBLE, bubbleId, changed, created, day, posted, readyFacts, removed, threaded } from './builders.ts';
import { idsIn, searchAs } from './search-scene.ts';

const BY_ID = { name: '_id', keys: { _id: 1 } } as const;
/** Every query that the stores make (the relay's are its own), by the paths of its filter and sort, and the index that serves it. */
const SERVED: Readonly<Record<string, string>> = {
  'bubbles: _id': '_id',
  'bubbles: _id, version': '_id',
  'bubbles: _id, readers': '_id',
  'bubbles: readers by sk': 'reader',
  'bubbles: readers, sk by sk': 'reader',
  'bubbles: readers, row.teamId by sk': 'reader_team_v2',
  'bubbles: readers, row.channelId by sk': 'reader_channel_v2',
  'bubbles: readers, row.type by sk': 'reader_type_v2',
  'bubbles: hideAt by hideAt': 'hide_at',
  'bubble_cards: _id, rev, seq': '_id',
  'bubble_cards: ever, seq by seq': 'ever',
  'bubble_cards: analyser': 'analyser',
  'bubble_cards: removedAt': 'removed',
  'comments: _id, revision': '_id',
  'comments: _id, revision, threadId': '_id',
  'comments: bubbleId, threadId, threadRevision': 'thread',
  'comments: bubbleId, shown, threadShown': 'shown',
  'comments: bubbleId, shown, threadShown by createdAt, _id': 'shown',
  'comments: bubbleId, createdAt, shown, threadShown by createdAt, _id': 'shown',
  'comments: bubbleId': 'shown',
  'threads: _id': '_id',
  'threads: _id, revision': '_id',
  'threads: bubbleId': 'bubble',
  'transcripts: _id': '_id',
  'transcripts: _id, revision': '_id',
  'transcript_parts: bubbleId': 'bubble',
  'people: _id': '_id',
  'people: _id, revision': '_id',
  'people: _id, revision, seq': '_id',
  'people: seq by seq': 'seq',
  'fills: _id': '_id',
};

const pathsOf = (value: unknown): string[] =>
  Object.keys(typeof value === 'object' && value !== null ? value : {}).filter((path) => !path.startsWith('$'));

/** The database, the shapes of the queries that were made of it, in order, and its indexes by collection. */
const overheard = () => {
  const shapes: string[] = [];
  const indexes = new Map<string, readonly IndexSpec[]>();
  const database = memoryDatabase();
  const hear = (name: string, [filter, , options]: readonly unknown[], second: unknown) => {
    const sort = [second, options].flatMap((one) => (typeof one === 'object' && one !== null && 'sort' in one ? pathsOf(one.sort) : []));
    shapes.push(`${name}: ${pathsOf(filter).toSorted().join(', ')}${sort.length === 0 ? '' : ` by ${sort.join(', ')}`}`);
  };
  const listening: Database = {
    ...database,
    collection: <T extends Doc>(name: string) =>
      new Proxy(database.collection<T>(name), {
        get(target, method) {
          const member: unknown = Reflect.get(target, method);
          if (typeof member !== 'function' || method === 'insert') return member;
          if (method === 'ensureIndexes')
            return (wanted: readonly IndexSpec[], dropped: readonly string[]) => {
              indexes.set(name, wanted);
              return target.ensureIndexes(wanted, dropped);
            };
          return (...args: unknown[]) => {
            hear(name, args, args[1]);
            return member.apply(target, args);
          };
        },
      }),
  };
  return { database: listening, shapes, indexes };
};

describe('the queries of the stores', () => {
  it.each(['', '/transcript', '/comments'])(
    '[BUB-03] GET /v1/bubbles/{id}%s asks the same of what is not there and of what may not be read',
    async (below) => {
      const { database, shapes } = overheard();
      const bubbles = await startBubbles({ database });
      await bubbles.tell(...readyFacts(), threaded(), posted());
      await bubbles.service.settle();
      const asked = async (id: string) => {
        shapes.length = 0;
        expect((await bubbles.read('eve', `/v1/bubbles/${id}${below}`)).status).toBe(404);
        return [...shapes];
      };
      expect([await asked(BUBBLE), await asked(bubbleId(7))]).toEqual([['bubbles: _id'], ['bubbles: _id']]);
      await bubbles.stop();
    },
  );

  it('are known, and each has an index that begins with what it asks for', async () => {
    const { database, shapes, indexes } = overheard();
    const bubbles = await startBubbles({ database });
    await bubbles.tell(
      account(),
      ...readyFacts(),
      threaded(),
      posted(),
      posted({ comment_id: 'comment-2' }),
      changed({ expires_at: day(90) }),
    );
    await bubbles.service.settle();
    const filters = ['', 'team_id=a', 'space_id=a', 'type=custom_image', `created_after=${day(1)}`];
    for (const filter of filters) await bubbles.read('ada', `/v1/bubbles?${filter}`);
    for (const below of ['', '/transcript', '/comments']) await bubbles.read('ada', `/v1/bubbles/${BUBBLE}${below}`);
    const { next_cursor: cursor } = (await bubbles.read('ada', `/v1/bubbles/${BUBBLE}/comments?limit=1`)).body;
    await bubbles.read('ada', `/v1/bubbles/${BUBBLE}/comments?cursor=${cursor}`);
    expect(idsIn(await searchAs(bubbles, 'ada', { q: 'weekly' }))).toEqual([BUBBLE]);
    await bubbles.ask('webhooks-dispatcher', '/internal/v1/readable', { pairs: [{ user_id: 'ada', bubble_id: BUBBLE }] });
    for (const job of bubbles.service.jobs) await job.run();
    await bubbles.tell(created({ revision: 9 }), removed());
    await bubbles.stop();

    const own = [...new Set(shapes)].filter((shape) => !/outbox|relayBy|^(?:leases|migrations):/.test(shape));
    expect(own.toSorted()).toEqual(Object.keys(SERVED).toSorted());
    for (const [shape, name] of Object.entries(SERVED)) {
      const [collection = '', asked = ''] = shape.split(': ');
      const known = indexes.get(collection) ?? [];
      const [leading = ''] = Object.keys([BY_ID, ...known].find((index) => index.name === name)?.keys ?? {});
      expect([shape, asked.split(/, | by /)]).toEqual([shape, expect.arrayContaining([leading])]);
    }
  });
});
