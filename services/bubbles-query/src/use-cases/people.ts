import type { AccountFacts } from '@bubbles/contracts/internal/accounts.ts';
import type { KnownPerson } from '../domain/person.ts';
import type { Accounts, PeopleStore } from '../ports.ts';

export const knownPerson = ({ user_id, name, email, revision }: AccountFacts): KnownPerson => ({ id: user_id, name, email, revision });

export const recordPerson =
  ({ people }: { readonly people: PeopleStore }) =>
  (facts: AccountFacts): Promise<void> =>
    people.put(knownPerson(facts));

/** What came of one page of identity's snapshot. */
export interface Rebuilt {
  readonly read: number;
  /** Where the next page begins; null behind the last. */
  readonly nextAfter: string | null;
}

/** Fills the projection again, a page at a time. Events that come meanwhile win by their revision. */
export const rebuildPeople =
  ({ people, accounts }: { readonly people: PeopleStore; readonly accounts: Accounts }) =>
  async (after: string | null): Promise<Rebuilt> => {
    const page = await accounts.page(after);
    await Promise.all(page.people.map((person) => people.put(person)));
    return { read: page.people.length, nextAfter: page.nextAfter };
  };
