import { beforeEach, describe, expect, it } from '@jest/globals';
import type { Stores } from '../src/adapters/store/stores.ts';
import { type Bubble, type Details, emptyBubble, withFacts } from '../src/domain/bubble.ts';
import type { Comment, Thread } from '../src/domain/comment.ts';
import type { ListFilters } from '../src/ports.ts';
import { AT, BUBBLE, bubbleId } from './builders.ts';
import { aComment, aThread, someDetails, someNotes } from './states.ts';

type MakeStores = () => Promise<Pick<Stores, 'bubbles' | 'transcripts' | 'comments'>>;

const EVERYTHING: ListFilters = { teamId: null, spaceId: null, type: null, createdAfterMs: null, createdBeforeMs: null };
/** What every engine below the stores has to hold. */
export const describeStores = (engine: string, make: MakeStores) => {
  describe(`BubbleStore on ${engine}`, () => {
    let bubbles: Stores['bubbles'];
    beforeEach(async () => {
      ({ bubbles } = await make());
    });
    const detailed = (fields: Partial<Details>) => (bubble: Bubble) => {
      const state = withFacts(bubble, 'details', someDetails(fields));
      return state && { state, events: [] };
    };
    const put = (n: number, fields: Partial<Details> = {}) =>
      bubbles.change(bubbleId(n), detailed({ createdAt: new Date(AT.getTime() + n * 1000), ...fields }));
    const rows = async (query: { filters?: Partial<ListFilters>; before?: string; limit?: number; userId?: string } = {}) => {
      const { filters, before = null, limit = 100, userId = 'ada' } = query;
      const found = await bubbles.rows({ userId, filters: { ...EVERYTHING, ...filters }, before, limit, now: AT });
      return found.map(({ id }) => Number.parseInt(id.slice(-4), 16));
    };

    it('a bubble that nobody told of begins with the first change, and not with none', async () => {
      expect(await bubbles.change(BUBBLE, () => null)).toEqual(emptyBubble(BUBBLE));
      expect(await bubbles.get(BUBBLE)).toBeNull();
      const made = await bubbles.change(BUBBLE, detailed({}));
      expect(await bubbles.get(BUBBLE)).toEqual(made);
      expect(made.details?.title).toBe('Weekly');
    });

    it('changes at the same time are all made, each on what was there', async () => {
      const raise = (bubble: Bubble) => ({ state: { ...bubble, commentsVersion: bubble.commentsVersion + 1 }, events: [] });
      await Promise.all(Array.from({ length: 20 }, () => bubbles.change(BUBBLE, raise)));
      expect((await bubbles.get(BUBBLE))?.commentsVersion).toBe(20);
    });

    it('a change of null leaves what is there, and answers it', async () => {
      const made = await bubbles.change(BUBBLE, detailed({}));
      expect(await bubbles.change(BUBBLE, () => null)).toEqual(made);
    });

    it('byIds answers those that are there', async () => {
      await put(1);
      expect((await bubbles.byIds([bubbleId(1), bubbleId(2)])).map(({ id }) => id)).toEqual([bubbleId(1)]);
      expect(await bubbles.byIds([])).toEqual([]);
    });

    it('[LIST-01] rows of a reader, newest first, legacy last, by the sort key', async () => {
      await put(3);
      await put(1);
      await put(2, { participants: [{ userId: 'bob', name: null, email: null, isExternal: false }] });
      await put(4, { createdAt: null });
      await put(9, { createdAt: new Date(AT.getTime() + 3000) });
      await bubbles.change(bubbleId(7), (bubble) => ({ state: withFacts(bubble, 'notes', someNotes()) ?? bubble, events: [] }));
      expect(await rows()).toEqual([9, 3, 1, 4]);
      expect(await rows({ limit: 2 })).toEqual([9, 3]);
      expect(await rows({ before: (await bubbles.get(bubbleId(3)))?.sortKey ?? '' })).toEqual([1, 4]);
      expect(await rows({ userId: 'bob' })).toEqual([2]);
      expect(await rows({ userId: 'nobody' })).toEqual([]);
    });

    it('[LIST-03] a row holds what a row shows', async () => {
      await put(1);
      const [row] = await bubbles.rows({ userId: 'ada', filters: EVERYTHING, before: null, limit: 1, now: AT });
      expect(row).toEqual({
        id: bubbleId(1),
        type: 'meeting_recording',
        title: 'Weekly',
        createdAt: new Date(AT.getTime() + 1000),
        teamId: 'acme',
        channelId: null,
        creatorId: null,
        expiresAt: null,
        thumbnailUrl: null,
        durationSeconds: null,
        summary: null,
        commentCount: 0,
      });
    });

    it('[BUB-08] leaves out what has expired by now', async () => {
      await put(1, { expiresAt: AT });
      await put(2, { expiresAt: new Date(AT.getTime() + 1) });
      await put(3, { expiresAt: new Date(AT.getTime() - 1) });
      expect(await rows()).toEqual([2]);
    });

    it('[BUB-08] finds what expired and still has readers, the first to expire first', async () => {
      await put(1, { expiresAt: AT });
      await put(2, { expiresAt: new Date(AT.getTime() + 1) });
      await put(3, { expiresAt: new Date(AT.getTime() - 1) });
      await put(4, { expiresAt: new Date(AT.getTime() - 2), archived: true });
      await put(5);
      expect(await bubbles.idsToWithdraw(AT, 10)).toEqual([bubbleId(3), bubbleId(1)]);
      expect(await bubbles.idsToWithdraw(AT, 1)).toEqual([bubbleId(3)]);
    });

    it('[LIST-05] filters select, dates exclude their ends and the legacy bubbles', async () => {
      await put(1, { teamId: 'a', channelId: 'x', type: 'custom_image' });
      await put(2, { teamId: 'a', channelId: 'y' });
      await put(3, { teamId: null, type: 'custom_image' });
      await put(4, { createdAt: null, teamId: 'a' });
      const at = (n: number) => AT.getTime() + n * 1000;
      expect(await rows({ filters: { teamId: 'a' } })).toEqual([2, 1, 4]);
      expect(await rows({ filters: { spaceId: 'x' } })).toEqual([1]);
      expect(await rows({ filters: { type: 'custom_image' } })).toEqual([3, 1]);
      expect(await rows({ filters: { teamId: 'a', type: 'custom_image' } })).toEqual([1]);
      expect(await rows({ filters: { createdAfterMs: at(1) } })).toEqual([3, 2]);
      expect(await rows({ filters: { createdBeforeMs: at(3) } })).toEqual([2, 1]);
      expect(await rows({ filters: { createdAfterMs: at(1), createdBeforeMs: at(3) } })).toEqual([2]);
      expect(await rows({ filters: { createdAfterMs: at(0) }, before: (await bubbles.get(bubbleId(3)))?.sortKey ?? '' })).toEqual([2, 1]);
      expect(await rows({ filters: { createdAfterMs: -1e15 } })).toEqual([3, 2, 1]);
    });
  });

  describe(`TranscriptStore on ${engine}`, () => {
    let transcripts: Stores['transcripts'];
    beforeEach(async () => {
      ({ transcripts } = await make());
    });
    const aTranscript = (revision: number, text = `at ${revision}`) => ({
      bubbleId: BUBBLE,
      revision,
      segments: [{ speaker: null, text, startTimeSeconds: 0, endTimeSeconds: 0.5 }],
    });

    it('[TRN-02] the newest stays, whatever comes after it', async () => {
      expect(await transcripts.get(BUBBLE)).toBeNull();
      for (const revision of [0, 3, 1, 2]) await transcripts.put(aTranscript(revision));
      await transcripts.put(aTranscript(3, 'again'));
      expect(await transcripts.get(BUBBLE)).toEqual(aTranscript(3));
    });

    it('the newest of many at the same time stays', async () => {
      await Promise.all([4, 1, 9, 3, 7].map((revision) => transcripts.put(aTranscript(revision))));
      expect(await transcripts.get(BUBBLE)).toEqual(aTranscript(9));
    });

    const aLongOne = (revision: number, count: number) => ({
      bubbleId: BUBBLE,
      revision,
      segments: Array.from({ length: count }, (_, n) => ({
        speaker: { id: null, name: `Speaker ${n % 7}` },
        text: `${revision} ${n} ${'字'.repeat(60)}`,
        startTimeSeconds: n,
        endTimeSeconds: n + 0.5,
      })),
    });

    it('[TRN-02] one of more than a document is whole, the newest stays, and purge takes all of it away', async () => {
      const [long, longer] = [aLongOne(2, 25_000), aLongOne(4, 100_000)];
      await transcripts.put(longer);
      await transcripts.put(long);
      expect(await transcripts.get(BUBBLE)).toEqual(longer);
      await transcripts.put(aTranscript(5));
      expect(await transcripts.get(BUBBLE)).toEqual(aTranscript(5));
      await transcripts.put(aLongOne(6, 25_000));
      await Promise.all([transcripts.put(aLongOne(8, 30_000)), transcripts.put(aLongOne(7, 40_000))]);
      expect(await transcripts.get(BUBBLE)).toEqual(aLongOne(8, 30_000));
      await transcripts.purge(BUBBLE);
      expect(await transcripts.get(BUBBLE)).toBeNull();
      await transcripts.put(aTranscript(1));
      expect(await transcripts.get(BUBBLE)).toEqual(aTranscript(1));
    });

    it('[TRN-02] is whole to whoever reads while it is replaced', async () => {
      await transcripts.put(aLongOne(1, 20_000));
      const replaced = transcripts.put(aLongOne(2, 20_000));
      for (let read = 0; read < 5; read += 1) {
        const { revision = 0, segments = [] } = (await transcripts.get(BUBBLE)) ?? {};
        expect([segments.length, new Set(segments.map(({ text }) => text.split(' ')[0]))]).toEqual([20_000, new Set([`${revision}`])]);
      }
      await replaced;
      expect((await transcripts.get(BUBBLE))?.revision).toBe(2);
    });

    it('purge takes it away, and may be repeated', async () => {
      await transcripts.put(aTranscript(1));
      for (let again = 0; again < 2; again += 1) await transcripts.purge(BUBBLE);
      expect(await transcripts.get(BUBBLE)).toBeNull();
    });
  });

  describe(`CommentStore on ${engine}`, () => {
    let comments: Stores['comments'];
    beforeEach(async () => {
      ({ comments } = await make());
    });
    const page = async (after: { readonly createdAt: Date; readonly id: string } | null = null, limit = 100) =>
      (await comments.page({ bubbleId: BUBBLE, after, limit })).map(({ id }) => id);
    const put = async (comment: Comment) => {
      await comments.put(comment);
      await comments.join(comment.threadId);
    };
    const putThread = async (thread: Thread) => {
      await comments.putThread(thread);
      await comments.join(thread.id);
    };
    const at = (ms: number) => new Date(AT.getTime() + ms);

    it('[COM-03] a comment shows when its thread is known, in whichever order they came', async () => {
      await put(aComment());
      expect([await page(), await comments.count(BUBBLE)]).toEqual([[], 0]);
      await putThread(aThread());
      await put(aComment({ id: 'comment-2' }));
      expect([await page(), await comments.count(BUBBLE)]).toEqual([['comment-1', 'comment-2'], 2]);
    });

    it('[COM-03] the newest revision of comment and thread counts', async () => {
      await putThread(aThread({ revision: 3, pinned: true }));
      await putThread(aThread({ revision: 2, archived: true }));
      await put(aComment({ revision: 3, body: 'new' }));
      await put(aComment({ revision: 2, body: 'old', archived: true }));
      expect(await comments.page({ bubbleId: BUBBLE, after: null, limit: 10 })).toEqual([
        { ...aComment({ revision: 3, body: 'new' }), pinned: true },
      ]);
      await putThread(aThread({ revision: 4, draft: true }));
      expect(await page()).toEqual([]);
    });

    it('[COM-03] drafts and archived comments are hidden until they are neither', async () => {
      await putThread(aThread());
      await put(aComment({ draft: true }));
      await put(aComment({ id: 'comment-2', archived: true }));
      expect(await page()).toEqual([]);
      await put(aComment({ revision: 2 }));
      expect(await page()).toEqual(['comment-1']);
    });

    it('[COM-03] one that moves to another thread follows it', async () => {
      await putThread(aThread());
      await putThread(aThread({ id: 'thread-2', archived: true }));
      await put(aComment());
      await put(aComment({ revision: 2, threadId: 'thread-2' }));
      expect(await page()).toEqual([]);
    });

    it('[COM-01] oldest first, then by id, from a position on', async () => {
      await putThread(aThread());
      for (const [id, ms] of [
        ['d', 1],
        ['b', 1],
        ['a', 2],
        ['c', 0],
      ] as const)
        await put(aComment({ id, createdAt: at(ms) }));
      expect(await page()).toEqual(['c', 'b', 'd', 'a']);
      expect(await page(null, 2)).toEqual(['c', 'b']);
      expect(await page({ createdAt: at(1), id: 'b' })).toEqual(['d', 'a']);
      expect(await page({ createdAt: at(1), id: 'gone' })).toEqual(['a']);
      expect(await page({ createdAt: at(2), id: 'a' })).toEqual([]);
    });

    it('purge takes away the comments and threads of one bubble', async () => {
      await putThread(aThread());
      await put(aComment());
      await putThread(aThread({ id: 'theirs', bubbleId: bubbleId(1) }));
      await put(aComment({ id: 'their', threadId: 'theirs', bubbleId: bubbleId(1) }));
      await comments.purge(BUBBLE);
      expect([await comments.count(BUBBLE), await comments.count(bubbleId(1))]).toEqual([0, 1]);
      await put(aComment());
      expect(await page()).toEqual([]);
    });
  });
};
