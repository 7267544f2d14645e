import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { TestBubbles } from './bubbles-query.ts';
import { caseFile, corpusOf, type PagingStep, uuidOfCase } from './search/cases.ts';
import { AUTHORS, idsIn, searchAs, startWith, toldOf, toldRemoved, toldWithout } from './search-scene.ts';

const CORPORA = Object.keys(caseFile.corpora).filter((name) => caseFile.cases.some(({ corpus }) => corpus === name));
const PAGE = { limit: 100 };
const idsOf = (names: readonly string[] | undefined) => names?.map(uuidOfCase);

describe.each(AUTHORS)('search over HTTP by authors %s', (kind) => {
  describe.each(CORPORA)('in the corpus %s', (corpus) => {
    let bubbles: TestBubbles;
    beforeAll(async () => {
      bubbles = await startWith(corpus, kind);
    });
    afterAll(() => bubbles.stop());

    it.each(caseFile.cases.filter((one) => one.corpus === corpus))(
      '[SRCH-02] [SRCH-03] [SRCH-04] $id: $why',
      async ({ caller, q, filters = {}, expected }) => {
        const answer = await searchAs(bubbles, caller, { q, ...filters, ...PAGE });
        expect(answer.status).toBe(200);
        expect(idsIn(answer)).toEqual(idsOf(expected));
        expect(answer.body).toMatchObject({ has_more: false, next_cursor: null });
      },
    );

    it('[SRCH-06] gives the same rows one by one', async () => {
      for (const { caller, q, filters = {}, expected } of caseFile.cases.filter((one) => one.corpus === corpus)) {
        const seen: string[] = [];
        for (let cursor: string | undefined, more = true; more; ) {
          const answer = await searchAs(bubbles, caller, { q, ...filters, limit: 1, cursor });
          for (const one of idsIn(answer)) seen.push(one);
          more = answer.body.has_more;
          cursor = answer.body.next_cursor ?? undefined;
        }
        expect([q, seen]).toEqual([q, idsOf(expected)]);
      }
    });
  });
});

describe('pages of a search over HTTP', () => {
  const take = async (bubbles: TestBubbles, corpus: string, { insert, delete: deleted, removeParticipant: left }: PagingStep) => {
    const original = corpusOf(corpus).find(({ id }) => id === (deleted ?? left?.[0]));
    if (insert !== undefined) await bubbles.tell(...toldOf(insert));
    else if (original === undefined) throw new Error('a step of nobody');
    else await bubbles.tell(left === undefined ? toldRemoved(original) : toldWithout(original, left[1]));
  };

  it.each(caseFile.paging)('[SRCH-06] [LIST-07] $id: $why', async ({ corpus, caller, q, limit, steps }) => {
    const bubbles = await startWith(corpus);
    let cursor: string | undefined;
    for (const step of steps) {
      if (step.expect === undefined) {
        await take(bubbles, corpus, step);
        continue;
      }
      const answer = await searchAs(bubbles, caller, { q, limit, cursor });
      expect([idsIn(answer), answer.body.has_more]).toEqual([idsOf(step.expect), step.has_more]);
      expect(answer.body.next_cursor === null).toBe(!step.has_more);
      cursor = answer.body.next_cursor ?? undefined;
    }
    await bubbles.stop();
  });
});

describe('what is asked', () => {
  let bubbles: TestBubbles;
  beforeAll(async () => {
    bubbles = await startWith('tokens');
  });
  afterAll(() => bubbles.stop());

  it.each(caseFile.status)('[SRCH-01] "$q" is $status', async ({ q, status }) => {
    const answer = await searchAs(bubbles, 'u1', { q });
    expect(answer.status).toBe(status);
    if (status === 400) expect(answer.body.error).toMatchObject({ type: 'invalid_request', message: expect.stringContaining('q') });
  });

  it.each([
    ['256 emoji, 512 units', encodeURIComponent('🚀'.repeat(256)), 200],
    ['257 emoji', encodeURIComponent('🚀'.repeat(257)), 400],
    ['blanks around count as sent', encodeURIComponent(` ${'a'.repeat(255)} `), 400],
    ['NUL', 'a%00b', 400],
    ['a broken escape', '%E0%A4%A', 400],
    ['twice', 'a&q=b', 400],
    ['no letters', '!!!', 200],
  ])('[SRCH-01] %s', async (_title, q, status) => {
    expect((await bubbles.read('u1', `/v1/bubbles/search?q=${q}`)).status).toBe(status);
  });

  it('[SRCH-01] none at all', async () => {
    expect((await bubbles.read('u1', '/v1/bubbles/search')).status).toBe(400);
  });

  it('[SRCH-01] a plus is a blank', async () => {
    const [plus, blank] = [
      await bubbles.read('u1', '/v1/bubbles/search?q=github+access'),
      await searchAs(bubbles, 'u1', { q: 'github access' }),
    ];
    expect(idsIn(plus)).toEqual(idsIn(blank));
    expect(idsIn(plus)).toHaveLength(1);
  });

  it.each(['limit=0', 'limit=101', 'limit=', 'type=none', 'created_after=now', 'cursor=', 'cursor=abc'])(
    '[SRCH-06] %s is refused',
    async (more) => {
      expect((await bubbles.read('u1', `/v1/bubbles/search?q=github&${more}`)).status).toBe(400);
    },
  );

  it('[AUTH-06] a key without bubbles:read is refused', async () => {
    expect((await bubbles.read('u1', '/v1/bubbles/search?q=github', { scopes: [] })).status).toBe(403);
  });
});
