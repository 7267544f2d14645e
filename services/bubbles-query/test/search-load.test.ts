import { fakeClock } from '@bubbles/testing/fake-clock.ts';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startBubbles, type TestBubbles } from './bubbles-query.ts';
import { AT, aPerson, created, noted } from './builders.ts';
import { createCorpus } from './search/corpus.ts';
import { searchPath } from './search-scene.ts';

const BUBBLES = 1500;
const CALLS = 50;

/** Ten words of eight letters and more, each two edits from many others: everything that a query can ask for. */
const heavyQuery = (words: readonly string[], n: number): string => {
  const long = words.filter((word) => word.length >= 8);
  const picked = Array.from({ length: 40 }, (_, at) => long[(n * 7 + at) % long.length] ?? '');
  return picked
    .map((word) => `${word.slice(0, 3)}${word.slice(4)}q`)
    .join(' ')
    .slice(0, 256);
};

describe(`${CALLS} searches at once for 256 characters that match almost everything`, () => {
  let bubbles: TestBubbles;
  let words: readonly string[];
  beforeAll(async () => {
    const still = fakeClock(AT);
    // Turns are taken by real time.
    bubbles = await startBubbles({ clock: { ...still, monotonic: () => performance.now() } });
    const corpus = createCorpus(BUBBLES).bubbles(0, BUBBLES);
    words = [...new Set(corpus.flatMap(({ summary }) => summary?.split(' ') ?? []))];
    for (const { id, title, summary, authorName, createdMs } of corpus) {
      await bubbles.tell(
        created({
          bubble_id: id,
          title,
          author: aPerson({ user_id: null, name: authorName }),
          created_at: new Date(createdMs).toISOString(),
        }),
        noted({ bubble_id: id, summary }),
      );
    }
    await still.advance(70_000);
  });
  afterAll(() => bubbles.stop());

  it('[SRCH-01] are all answered, each as if alone, and who only lists does not wait for them', async () => {
    const queries = Array.from({ length: CALLS }, (_, n) => heavyQuery(words, n));
    expect(queries.map((q) => q.length)).toEqual(queries.map(() => 256));
    await bubbles.read('ada', searchPath(queries[0] ?? ''));
    let answered = 0;
    const searches = queries.map(async (q) => {
      const answer = await bubbles.read('ada', searchPath(q));
      answered += 1;
      return answer;
    });
    await Promise.race(searches);
    const list = await bubbles.read('ada', '/v1/bubbles');
    expect(list.status).toBe(200);
    expect(answered).toBeLessThan(CALLS);
    const answers = await Promise.all(searches);
    expect(answers.map(({ status }) => status)).toEqual(queries.map(() => 200));
    for (const [n, q] of queries.entries()) expect(answers[n]?.body).toEqual((await bubbles.read('ada', searchPath(q))).body);
  });
});
