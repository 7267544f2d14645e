import { describe, expect, it } from '@jest/globals';
import type { Position } from '../../src/domain/ranking.ts';
import type { ListFilters } from '../../src/ports.ts';
import type { CallerIndex } from '../../src/search/caller-index.ts';
import {
  type CaseBubble,
  type CaseFilters,
  caseFile,
  caseNowMs,
  corpusOf,
  createdMsOf,
  isListable,
  type PagingStep,
  uuidOfCase,
} from './cases.ts';
import { cardOf, indexOf, pull, type TestBubble } from './harness.ts';

const bubbleOf = (bubble: CaseBubble): TestBubble => ({
  id: uuidOfCase(bubble.id),
  title: bubble.title,
  authorName: bubble.author_name,
  summary: bubble.summary,
  createdMs: createdMsOf(bubble),
  hideAtMs: bubble.expires_at === null ? null : Date.parse(bubble.expires_at),
  teamId: bubble.team_id,
  channelId: bubble.channel_id,
  type: bubble.type,
});

const indexFor = (corpus: string, caller: string): CallerIndex =>
  indexOf(
    corpusOf(corpus)
      .filter((bubble) => isListable(bubble) && bubble.participants.includes(caller))
      .map(bubbleOf),
  );

const instant = (text: string | undefined): number | null => (text === undefined ? null : Date.parse(text));

const filtersOf = (filters: CaseFilters): ListFilters => ({
  teamId: filters.team_id ?? null,
  spaceId: filters.space_id ?? null,
  type: filters.type ?? null,
  createdAfterMs: instant(filters.created_after),
  createdBeforeMs: instant(filters.created_before),
});

const idsOf = (names: readonly string[] | undefined): string[] | undefined => names?.map(uuidOfCase);

describe('the engine on the ordered expectations', () => {
  it.each(caseFile.cases)('[SRCH-02] [SRCH-03] [SRCH-04] $id: $why', ({ corpus, caller, q, filters = {}, expected }) => {
    const hits = pull(indexFor(corpus, caller), { q, filters: filtersOf(filters), nowMs: caseNowMs });
    expect(hits.map(({ id }) => id)).toEqual(idsOf(expected));
  });

  it.each(caseFile.paging)('[LIST-07] [SRCH-06] $id: $why', ({ corpus, caller, q, limit, steps }) => {
    const index = indexFor(corpus, caller);
    const original = (name: string) => corpusOf(corpus).find(({ id }) => id === name);
    let after: Position | null = null;
    const take = ({ insert, delete: deleted, removeParticipant }: PagingStep): void => {
      const removed = original(deleted ?? removeParticipant?.[0] ?? '');
      if (insert !== undefined) index.apply([cardOf(bubbleOf(insert), 2)]);
      if (removed !== undefined) index.apply([cardOf(bubbleOf(removed), 2, false)]);
    };
    for (const step of steps) {
      if (step.expect === undefined) {
        take(step);
        continue;
      }
      const hits = pull(index, { q, after, nowMs: caseNowMs }, limit + 1);
      expect(hits.slice(0, limit).map(({ id }) => id)).toEqual(idsOf(step.expect));
      expect(hits.length > limit).toBe(step.has_more);
      after = hits[limit - 1] ?? null;
    }
  });
});
