import { describe, expect, it } from '@jest/globals';
import { BUBBLE } from '../../test/builders.ts';
import { aBubble, someDetails, someNotes } from '../../test/states.ts';
import { type Bubble, tombstone, withFacts } from './bubble.ts';
import { atOnce, nameInId, searchCard } from './search-card.ts';

const bubble = (fields: Parameters<typeof someDetails>[0] = {}): Bubble => {
  const detailed = withFacts(aBubble(), 'details', someDetails(fields));
  if (detailed === null) throw new Error('nothing new');
  return detailed;
};
const authorOf = (author: Parameters<typeof someDetails>[0]) => atOnce(searchCard(bubble(author)))?.authorId;
const somebody = { name: 'Olga', email: null, isExternal: true };

describe('the card of a bubble', () => {
  it('there is none before it is known what the bubble is', () => {
    expect(atOnce(searchCard(aBubble()))).toBeNull();
    expect(atOnce(searchCard(aBubble({ notes: someNotes() })))).toBeNull();
  });

  it('[SRCH-02] holds the words of the title and of the notes, and what can be filtered by', () => {
    const noted = withFacts(bubble({ title: 'Follow-up', channelId: 'c' }), 'notes', someNotes({ summary: 'All well, all.' }));
    expect(noted && atOnce(searchCard(noted))).toMatchObject({
      id: BUBBLE,
      changeCount: 2,
      readers: ['ada'],
      removed: false,
      title: 'followup:0-1 follow:0 up:1',
      notes: 'all well',
      teamId: 'acme',
      channelId: 'c',
      type: 'meeting_recording',
    });
  });

  it('[LIST-09] names the author by account, or by the name itself where there is none', () => {
    expect(authorOf({ author: { ...somebody, userId: 'ada' } })).toBe('ada');
    const named = authorOf({ author: { ...somebody, userId: null } });
    expect([named, nameInId(named ?? ''), nameInId('ada')]).toEqual(['~Olga', 'Olga', null]);
    expect([authorOf({ author: { ...somebody, userId: null, name: null } }), authorOf({ author: null })]).toEqual([null, null]);
  });

  it('of a removed bubble is empty, and newer than every other', () => {
    const known = bubble();
    expect(atOnce(searchCard(tombstone(known)))).toEqual({
      id: BUBBLE,
      changeCount: known.changeCount + 1,
      readers: [],
      removed: true,
      createdAt: null,
      hideAtMs: null,
      teamId: null,
      channelId: null,
      type: '',
      authorId: null,
      title: '',
      notes: '',
    });
  });
});
