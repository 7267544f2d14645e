import type { KnownPerson } from '../domain/person.ts';
import type { Accounts, FillStore, PeopleStore } from '../ports.ts';
import type { Feed } from './feed.ts';

interface Ports {
  readonly people: PeopleStore;
  readonly accounts: Accounts;
  readonly feed: Feed;
}

export const recordPerson =
  ({ people, feed }: Pick<Ports, 'people' | 'feed'>) =>
  (person: KnownPerson): Promise<void> =>
    feed(({ seq }) => people.put(person, seq));

/** What came of one page of identity's snapshot. */
export interface Rebuilt {
  readonly read: number;
  /** Where the next page begins; null behind the last. */
  readonly nextAfter: string | null;
}

/** Fills the projection again, a page at a time: with what is news. Events that come meanwhile win by their revision. */
export const rebuildPeople =
  ({ people, accounts, feed }: Ports) =>
  async (after: string | null): Promise<Rebuilt> => {
    const page = await accounts.page(after);
    const known = await people.byIds(page.people.map(({ id }) => id));
    const news = page.people.filter(({ id, revision }) => (known.get(id)?.revision ?? 0) < revision);
    await Promise.all(news.map((person) => feed(({ seq }) => people.put(person, seq))));
    return { read: page.people.length, nextAfter: page.nextAfter };
  };

/** Fills the projection the first time, from where it was left; nothing once that is done. */
export const fillPeople = ({ fills, ...ports }: Ports & { readonly fills: FillStore }) => {
  const fillPage = rebuildPeople(ports);
  return async (): Promise<void> => {
    for (let { after, done } = await fills.get(); !done; ) {
      const { nextAfter } = await fillPage(after);
      after = nextAfter;
      done = nextAfter === null;
      await fills.put({ after, done });
    }
  };
};
