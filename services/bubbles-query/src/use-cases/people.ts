import type { KnownPerson } from '../domain/person.ts';
import type { Identity, PeopleStore } from '../ports.ts';
import type { Feed } from './feed.ts';

interface Ports {
  readonly people: PeopleStore;
  readonly identity: Pick<Identity, 'accounts'>;
  readonly feed: Feed;
}

export const recordPerson =
  ({ people, feed }: Pick<Ports, 'people' | 'feed'>) =>
  (person: KnownPerson): Promise<void> =>
    feed(({ seq }) => people.put(person, seq));

/**
 * Fills the projection again with what is news, a page at a time; `nextAfter` is null behind the last one. Events that come meanwhile win by their
 * revision.
 */
export const rebuildPeople =
  ({ people, identity, feed }: Ports) =>
  async (after: string | null): Promise<{ readonly read: number; readonly nextAfter: string | null }> => {
    const page = await identity.accounts(after);
    const known = await people.byIds(page.people.map(({ id }) => id));
    const news = page.people.filter(({ id, revision }) => (known.get(id)?.revision ?? 0) < revision);
    await Promise.all(news.map((person) => feed(({ seq }) => people.put(person, seq))));
    return { read: page.people.length, nextAfter: page.nextAfter };
  };

/** Fills the projection the first time, from where it was left; nothing once that is done. */
export const fillPeople = (ports: Ports) => {
  const { people } = ports;
  const fillPage = rebuildPeople(ports);
  return async (): Promise<void> => {
    for (let { after, done } = await people.fillProgress(); !done; ) {
      const { nextAfter } = await fillPage(after);
      after = nextAfter;
      done = nextAfter === null;
      await people.saveFillProgress({ after, done });
    }
  };
};
