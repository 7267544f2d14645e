import { indexedCollections } from '@bubbles/store/indexed-collections.ts';
import { openEmbedded } from '@bubbles/store-embedded/open-embedded.ts';
import { memoryLog } from '@bubbles/testing/memory-log.ts';
import { expect, it } from '@jest/globals';
import { openCards } from '../src/adapters/store/cards.ts';
import type { SearchCard } from '../src/domain/search-card.ts';
import { AT, BUBBLE } from './builders.ts';

const ALL = { after: 0, upTo: null };

it('a card whose texts a newer analyser read is a newer row, though the bubble is as it was', async () => {
  const { open } = indexedCollections(openEmbedded({ path: ':memory:', log: memoryLog() }).database('search'));
  const card: SearchCard = {
    id: BUBBLE,
    changeCount: 5,
    readers: ['ada'],
    removed: false,
    createdAt: AT,
    hideAtMs: null,
    teamId: null,
    channelId: null,
    type: 'custom_image',
    authorId: null,
    title: 'sprint:0',
    notes: '',
  };
  const revisions: number[] = [];
  for (const analyser of [1, 2]) {
    const cards = openCards(open, analyser);
    await cards.put(card, { seq: analyser, at: AT });
    for await (const rows of cards.of('ada').read(ALL)) for (const one of rows.map(({ rowVersion }) => rowVersion)) revisions.push(one);
  }
  const [before = 0, after = 0] = revisions;
  expect(after).toBeGreaterThan(before);
  await openCards(open, 2).put({ ...card, changeCount: 6 }, { seq: 3, at: AT });
  for await (const rows of openCards(open, 2).of('ada').read(ALL)) expect(rows.map(({ rowVersion }) => rowVersion > after)).toEqual([true]);
});
