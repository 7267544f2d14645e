import type { Clock } from '@bubbles/shared/clock.ts';
import type { Bubble } from '../domain/bubble.ts';
import { searchCard } from '../domain/search-card.ts';
import type { BubbleStore, CardStore, PeopleStore } from '../ports.ts';
import type { Feed } from './feed.ts';

export interface CardPorts {
  readonly cards: CardStore;
  readonly people: Pick<PeopleStore, 'mention'>;
  readonly feed: Feed;
}

const CARDS_A_RUN = 100;
/** Longer than any index lives that still has the bubble. */
const KEPT_REMOVED_MS = 30 * 86_400_000;

/** Writes what search finds a bubble by, from what is stored of it; its author first, so that the name is there when the card is. */
export const writeCard =
  ({ cards, people, feed }: CardPorts) =>
  async (bubble: Bubble): Promise<void> => {
    const card = searchCard(bubble);
    if (card === null) return;
    const { userId = null, name = null } = bubble.details?.author ?? {};
    if (userId !== null) await feed(({ seq }) => people.mention({ id: userId, name }, seq));
    await feed((stamp) => cards.put(card, stamp));
  };

export interface AnalysisPorts extends CardPorts {
  readonly bubbles: Pick<BubbleStore, 'byIds'>;
}

/** After a change of the analysis every card is written again; those that stay as they were, since their bubbles are not there, end the run. */
export const analyseCardsAgain = ({ bubbles, ...ports }: AnalysisPorts) => {
  const write = writeCard(ports);
  return async (): Promise<void> => {
    let seen: ReadonlySet<string> = new Set();
    for (;;) {
      const ids = await ports.cards.idsAnalysedBefore(CARDS_A_RUN);
      if (ids.every((id) => seen.has(id))) return;
      for (const bubble of await bubbles.byIds(ids)) await write(bubble);
      if (ids.length < CARDS_A_RUN) return;
      seen = new Set(ids);
    }
  };
};

export const dropRemovedCards =
  ({ cards, clock }: { readonly cards: CardStore; readonly clock: Clock }) =>
  async (): Promise<void> => {
    await cards.dropRemovedBefore(new Date(clock.now().getTime() - KEPT_REMOVED_MS));
  };
