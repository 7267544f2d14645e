import { domainToASCII } from 'node:url';

/** A person in a recording, as its event named them. */
export interface Person {
  /** Null without an account. */
  readonly userId: string | null;
  readonly name: string | null;
  readonly email: string | null;
  /** Outside of the bubble's team when the participants were named, or without an account. */
  readonly isExternal: boolean;
}

/** Distinct; those without an account have none. */
export const accountIds = (people: readonly Person[]): string[] => [...new Set(people.flatMap(({ userId }) => userId ?? []))];

/** An account as the last event or snapshot of identity describes it. */
export interface KnownPerson {
  readonly id: string;
  readonly name: string | null;
  readonly email: string | null;
  readonly revision: number;
}

/** The accounts among the people of what is shown, by id. */
export type Directory = ReadonlyMap<string, KnownPerson>;

/** The account's current name and address; what the event said until the account is known. */
export function current(person: Person, directory: Directory): Person {
  const known = person.userId === null ? undefined : directory.get(person.userId);
  return known === undefined ? person : { ...person, name: known.name, email: known.email };
}

const ASCII_DOMAIN = /^[a-z0-9._-]+$/;
const NO_DOMAIN = /[\s%/?#@:[\]\\]/;
/** Longer than any domain name in any form. To look for dots at its end takes a time that is quadratic in the length. */
const MAX_DOMAIN_UNITS = 1024;

/** One form for all ways to write a domain name: IDNA in ASCII, lower case, no dot at the end. Null when it is no domain name. */
const canonicalDomain = (name: string): string | null => {
  const lower = name.trim().toLowerCase();
  if (lower.length > MAX_DOMAIN_UNITS || NO_DOMAIN.test(lower)) return null;
  const ascii = ASCII_DOMAIN.test(lower) ? lower : domainToASCII(lower);
  return ascii.replace(/\.+$/, '') || null;
};

const domainOf = (email: string): string | null => (email.includes('@') ? canonicalDomain(email.slice(email.lastIndexOf('@') + 1)) : null);

/** Equal for all ways to write one address. */
export const addressKey = (email: string): string => {
  const lower = email.trim().toLowerCase();
  const domain = domainOf(lower);
  return domain === null ? lower : `${lower.slice(0, lower.lastIndexOf('@')).trimEnd()}@${domain}`;
};

/** In one form each, distinct, sorted. */
export const externalDomains = (participants: readonly Person[], directory: Directory): string[] => {
  const emails = participants.flatMap((person) => (person.isExternal ? (current(person, directory).email ?? []) : []));
  return [...new Set(emails.map(domainOf))].filter((domain) => domain !== null).toSorted();
};
