import type { Clock } from '@bubbles/kernel/clock.ts';
import { type Bubble, derivedAgain } from '../domain/bubble.ts';
import { searchCard } from '../domain/search-card.ts';
import type { BubbleStore, CardStore, PeopleStore, RunInSlices } from '../ports.ts';
import type { Feed } from './feed.ts';

export interface CardPorts {
  readonly cards: CardStore;
  readonly people: Pick<PeopleStore, 'mention'>;
  readonly feed: Feed;
  readonly runInSlices: RunInSlices;
}

const CARDS_PER_RUN = 100;
/** Longer than any search index lives that still has the bubble. */
const KEPT_REMOVED_MS = 30 * 86_400_000;

/** Writes the card of a stored bubble; its author first, so that the name is there when the card is. */
export const writeCard =
  ({ cards, people, feed, runInSlices }: CardPorts) =>
  async (bubble: Bubble): Promise<void> => {
    const card = await runInSlices(searchCard(bubble));
    if (card === null) return;
    const { userId = null, name = null } = bubble.details?.author ?? {};
    if (userId !== null) await feed(({ seq }) => people.mention({ id: userId, name }, seq));
    await feed((stamp) => cards.put(card, stamp));
  };

interface AnalysisPorts extends CardPorts {
  readonly bubbles: Pick<BubbleStore, 'byIds' | 'change'>;
}

/**
 * After a change of the analysis every card is written again, and its bubble where lists would find it in another place; cards that stay as they were,
 * since their bubbles are not there, end the run.
 */
export const analyseCardsAgain = ({ bubbles, ...ports }: AnalysisPorts) => {
  const write = writeCard(ports);
  const rewrite = async (bubble: Bubble): Promise<void> => {
    if (derivedAgain(bubble) !== null) {
      await bubbles.change(bubble.id, (stored) => {
        const state = derivedAgain(stored);
        return state && { state, events: [] };
      });
    }
    await write(bubble);
  };
  return async (): Promise<void> => {
    let seen: ReadonlySet<string> = new Set();
    for (;;) {
      const ids = await ports.cards.idsAnalysedBefore(CARDS_PER_RUN);
      if (ids.every((id) => seen.has(id))) return;
      for (const bubble of await bubbles.byIds(ids)) await rewrite(bubble);
      if (ids.length < CARDS_PER_RUN) return;
      seen = new Set(ids);
    }
  };
};

export const dropRemovedCards =
  ({ cards, clock }: { readonly cards: CardStore; readonly clock: Clock }) =>
  async (): Promise<void> => {
    await cards.dropRemovedBefore(new Date(clock.now().getTime() - KEPT_REMOVED_MS));
  };
