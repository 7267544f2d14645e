import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { startBubbles, type TestBubbles } from './bubbles-query.ts';
import { bubbleId, changed, created, day, noted } from './builders.ts';

const SOON = '2026-03-01T12:00:05.000Z';

let bubbles: TestBubbles;
beforeEach(async () => {
  bubbles = await startBubbles();
});
afterEach(() => bubbles.stop());

const runJob = () => bubbles.service.jobs.find(({ name }) => name === 'withdraw-expired')?.run();
const listed = async () => (await bubbles.read('ada', '/v1/bubbles?limit=100')).body.data.map(({ id }: { id: string }) => id);
/** Documents that a list of the reader has to look at. */
const looked = () => bubbles.database.collection<{ readonly _id: string; readonly readers: string }>('bubbles').count({ readers: 'ada' });

describe('expired bubbles', () => {
  it('[BUB-08] [LIST-02] go out of the way of lists, and nothing else does', async () => {
    const many = Array.from({ length: 250 }, (_, n) => created({ bubble_id: bubbleId(n), expires_at: day(1) }));
    const [kept, later] = [bubbleId(1000), bubbleId(1001)];
    await bubbles.tell(...many, created({ bubble_id: kept }), created({ bubble_id: later, expires_at: SOON, created_at: day(2) }));
    expect([await listed(), await looked()]).toEqual([[later, kept], 252]);
    await runJob();
    expect([await listed(), await looked()]).toEqual([[later, kept], 2]);
  });

  it('[BUB-08] [EVT-01] come back when they expire later after all', async () => {
    await bubbles.tell(created({ bubble_id: bubbleId(1), expires_at: day(1) }));
    await runJob();
    await bubbles.tell(changed({ bubble_id: bubbleId(1), expires_at: SOON }));
    expect(await listed()).toEqual([bubbleId(1)]);
    expect((await bubbles.read('ada', '/v1/bubbles/search?q=weekly')).body.data).toHaveLength(1);
    await bubbles.clock.advance(5000);
    await runJob();
    expect([await listed(), await looked()]).toEqual([[], 0]);
  });

  it('[BUB-08] are hidden whether or not that was done, and done again after what comes late', async () => {
    await bubbles.tell(created({ bubble_id: bubbleId(1), expires_at: SOON }));
    await bubbles.clock.advance(5000);
    for (const told of [[], [noted({ bubble_id: bubbleId(1) })], [changed({ bubble_id: bubbleId(1), expires_at: SOON })]]) {
      await bubbles.tell(...told);
      expect(await listed()).toEqual([]);
      await runJob();
      expect(await looked()).toBe(0);
    }
  });
});
