import type { KnownPerson } from '../domain/person.ts';
import type { Accounts, PeopleStore } from '../ports.ts';

export const recordPerson =
  ({ people }: { readonly people: PeopleStore }) =>
  (person: KnownPerson): Promise<void> =>
    people.put(person);

/** Fills the projection again from identity's snapshot. Events that come meanwhile win by their revision. Answers how many accounts were read. */
export const rebuildPeople =
  ({ people, accounts }: { readonly people: PeopleStore; readonly accounts: Accounts }) =>
  async (): Promise<number> => {
    let count = 0;
    for (let after: string | null = null; ; ) {
      const page = await accounts.page(after);
      for (const person of page.people) await people.put(person);
      count += page.people.length;
      if (page.nextAfter === null) return count;
      after = page.nextAfter;
    }
  };
