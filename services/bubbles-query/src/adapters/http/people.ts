import { createHmac } from 'node:crypto';
import type { BubblePerson } from '@bubbles/contracts/api/bubble.ts';
import { addressKey, current, type Directory, type Person } from '../../domain/person.ts';

const ID_CHARACTERS = 24;

export interface PeopleView {
  readonly bubbleId: string;
  readonly directory: Directory;
  readonly seesAddresses: boolean;
}

/** As recorded, and as the account has it now. */
const addressesOf = (person: Person, directory: Directory): string[] =>
  [person.email, current(person, directory).email].flatMap((email) => (email === null ? [] : addressKey(email)));

/** Without those who are here once more with an account. */
const withoutDoubles = (people: readonly Person[], directory: Directory): readonly Person[] => {
  const ofAccounts = new Set(people.flatMap((person) => (person.userId === null ? [] : addressesOf(person, directory))));
  return people.filter(({ userId, email }) => userId !== null || email === null || !ofAccounts.has(addressKey(email)));
};

/** People as the public reads them. Somebody without an account has an id that is stable for the bubble and the address, and says nothing of it. */
export function peoplePresenter(personKey: Buffer) {
  const outsiderId = (bubbleId: string, mark: string): string =>
    `ext_${createHmac('sha256', personKey).update(`${bubbleId}\n${mark}`).digest('base64url').slice(0, ID_CHARACTERS)}`;

  /** Those without an address are told apart by name and place. */
  const markOf = ({ name, email }: Person, namesakesBefore: number): string =>
    email === null ? `name\n${name ?? ''}\n${namesakesBefore}` : `email\n${addressKey(email)}`;

  const present = (person: Person, namesakesBefore: number, { bubbleId, directory, seesAddresses }: PeopleView): BubblePerson => {
    const { name, email } = current(person, directory);
    return { id: person.userId ?? outsiderId(bubbleId, markOf(person, namesakesBefore)), name, email: seesAddresses ? email : null };
  };

  return {
    one: (person: Person, view: PeopleView): BubblePerson => present(person, 0, view),
    /** Each once. */
    all(people: readonly Person[], view: PeopleView): BubblePerson[] {
      const namesakes = new Map<string, number>();
      const presented = new Map<string, BubblePerson>();
      for (const person of withoutDoubles(people, view.directory)) {
        const before = namesakes.get(person.name ?? '') ?? 0;
        if (person.userId === null && person.email === null) namesakes.set(person.name ?? '', before + 1);
        const one = present(person, before, view);
        const known = presented.get(one.id);
        presented.set(one.id, known === undefined ? one : { ...known, name: known.name ?? one.name });
      }
      return [...presented.values()];
    },
  };
}
export type PeoplePresenter = ReturnType<typeof peoplePresenter>;
