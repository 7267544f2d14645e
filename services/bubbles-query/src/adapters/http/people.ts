import { createHmac } from 'node:crypto';
import type { BubblePerson } from '@bubbles/contracts/api/bubble.ts';
import { current, type Directory, type Person } from '../../domain/person.ts';

const ID_CHARACTERS = 24;

export interface PeopleView {
  readonly bubbleId: string;
  readonly directory: Directory;
  readonly seesAddresses: boolean;
}

/** People as the public reads them. Somebody without an account has an id that is stable for the bubble and the address, and says nothing of it. */
export function peoplePresenter(personKey: Buffer) {
  const outsiderId = (bubbleId: string, mark: string): string =>
    `ext_${createHmac('sha256', personKey).update(`${bubbleId}\n${mark}`).digest('base64url').slice(0, ID_CHARACTERS)}`;

  /** Those without an address are told apart by name and place. */
  const markOf = ({ name, email }: Person, namesakesBefore: number): string =>
    email === null ? `name\n${name ?? ''}\n${namesakesBefore}` : `email\n${email.trim().toLowerCase()}`;

  const present = (person: Person, namesakesBefore: number, { bubbleId, directory, seesAddresses }: PeopleView): BubblePerson => {
    const { name, email } = current(person, directory);
    return { id: person.userId ?? outsiderId(bubbleId, markOf(person, namesakesBefore)), name, email: seesAddresses ? email : null };
  };

  return {
    one: (person: Person, view: PeopleView): BubblePerson => present(person, 0, view),
    all(people: readonly Person[], view: PeopleView): BubblePerson[] {
      const namesakes = new Map<string, number>();
      return people.map((person) => {
        const before = namesakes.get(person.name ?? '') ?? 0;
        if (person.userId === null && person.email === null) namesakes.set(person.name ?? '', before + 1);
        return present(person, before, view);
      });
    },
  };
}
export type PeoplePresenter = ReturnType<typeof peoplePresenter>;
