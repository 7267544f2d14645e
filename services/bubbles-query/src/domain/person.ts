/** Somebody of a recording, as its event named them. */
export interface Person {
  /** Null for somebody without an account. */
  readonly userId: string | null;
  readonly name: string | null;
  readonly email: string | null;
  /** Outside of the bubble's team when the participants were named, or without an account. */
  readonly isExternal: boolean;
}

/** Distinct; those without an account have none. */
export const accountIds = (people: readonly Person[]): string[] => [...new Set(people.flatMap(({ userId }) => userId ?? []))];

/** An account as identity last told of it. */
export interface KnownPerson {
  readonly id: string;
  readonly name: string | null;
  readonly email: string | null;
  readonly revision: number;
}

/** The accounts among the people of what is shown, by id. */
export type Directory = ReadonlyMap<string, KnownPerson>;
export const NOBODY: Directory = new Map();

/** The account's current name and address; what the event said until the account is known. */
export function current(person: Person, directory: Directory): Person {
  const known = person.userId === null ? undefined : directory.get(person.userId);
  return known === undefined ? person : { ...person, name: known.name, email: known.email };
}

const domainOf = (email: string): string => email.slice(email.lastIndexOf('@') + 1).toLowerCase();

/** Lower case, distinct, sorted. */
export const externalDomains = (participants: readonly Person[], directory: Directory): string[] => {
  const emails = participants.flatMap((person) => (person.isExternal ? (current(person, directory).email ?? []) : []));
  const domains = emails.filter((email) => email.includes('@')).map(domainOf);
  return [...new Set(domains)].filter((domain) => domain !== '').toSorted();
};
