import { describe, expect, it } from '@jest/globals';
import { comparePositions } from '../../src/domain/ranking.ts';
import { parseQuery } from '../../src/domain/search-query.ts';
import { type CaseBubble, type CaseFilters, caseFile, caseNowMs, corpusOf, createdMsOf, isListable, uuidOfCase } from './cases.ts';
import { packTuple, rank } from './definition.ts';

const passes = (bubble: CaseBubble, filters: CaseFilters): boolean => {
  const created = createdMsOf(bubble);
  const { type, team_id, space_id, created_after, created_before } = filters;
  if (type !== undefined && bubble.type !== type) return false;
  if (team_id !== undefined && bubble.team_id !== team_id) return false;
  if (space_id !== undefined && bubble.channel_id !== space_id) return false;
  if (created_after !== undefined && !(created > Date.parse(created_after))) return false;
  return created_before === undefined || (created > 0 && created < Date.parse(created_before));
};

const isSeen = (bubble: CaseBubble, caller: string): boolean =>
  isListable(bubble) && bubble.participants.includes(caller) && (bubble.expires_at === null || Date.parse(bubble.expires_at) > caseNowMs);

describe('the definition of the ranking', () => {
  it.each(caseFile.cases)('[SRCH-02] [SRCH-03] $id: $why', ({ corpus, caller, q, filters = {}, expected }) => {
    const query = parseQuery(q);
    const ids = corpusOf(corpus)
      .filter((bubble) => isSeen(bubble, caller) && passes(bubble, filters))
      .flatMap((bubble) => {
        const tuple = rank(query, { title: bubble.title, authorName: bubble.author_name, summary: bubble.summary });
        return tuple === null
          ? []
          : [{ name: bubble.id, rank: packTuple(tuple), createdMs: createdMsOf(bubble), id: uuidOfCase(bubble.id) }];
      })
      .sort(comparePositions)
      .map(({ name }) => name);
    expect(ids).toEqual(expected);
  });
});
