import { DomainError } from '@bubbles/kernel/errors.ts';
import { foldAddress } from '@bubbles/mail/address.ts';
import type { Account } from './account.ts';

const noAddress = () => new DomainError('invalid', 'email: must be an e-mail address');

/** Folded; null for an account without an address. */
export const addressOf = ({ email }: Pick<Account, 'email'>): string | null => (email === null ? null : foldAddress(email));

/** Folded, for a profile that is to be written. */
export const checkedAddress = (email: string | null): string | null => {
  const folded = addressOf({ email });
  if (email !== null && folded === null) throw noAddress();
  return folded;
};

/** Folded, for an address that was proven. `domain` is what its people have in common; null when that is nothing. */
export const addressIn = ({ email, domain }: { readonly email: string; readonly domain: string | null }): string => {
  const address = foldAddress(email);
  if (address === null) throw noAddress();
  if (domain !== null && !`.${address.slice(address.lastIndexOf('@') + 1)}`.endsWith(`.${domain}`))
    throw new DomainError('invalid', 'domain: must be the domain of the address');
  return address;
};

/** The domain of the address and those above it, up to the one that its people have in common; none when that is null. `address` is folded and in it. */
export const domainsOf = (address: string, common: string | null): readonly string[] => {
  if (common === null) return [];
  const domains: string[] = [];
  for (let domain = address.slice(address.lastIndexOf('@') + 1); domain.length >= common.length; ) {
    domains.push(domain);
    const dot = domain.indexOf('.');
    domain = dot === -1 ? '' : domain.slice(dot + 1);
  }
  return domains;
};

/** An address that belongs to an account, or is about to. */
export interface TakenAddress {
  /** Folded. */
  readonly address: string;
  readonly accountId: string;
  readonly takenAt: Date;
  /** Rises with every change, so that nobody acts on what was read before. */
  readonly version: number;
}

/** Longer than the profile is written after its address was taken. */
const TAKING_MS = 60_000;

/** An address whose account does not have it: its process died before it wrote the profile, or before it freed the address. */
export const isAbandoned = (taken: TakenAddress, owner: Account | null, now: Date): boolean =>
  now.getTime() - taken.takenAt.getTime() >= TAKING_MS && (owner === null || addressOf(owner) !== taken.address);

/** True when `one` keeps an address that two accounts have, which older releases allowed: the older account keeps it. */
export const isOlder = (one: Account, other: Account): boolean =>
  one.createdAt.getTime() - other.createdAt.getTime() < 0 || (one.createdAt.getTime() === other.createdAt.getTime() && one.id < other.id);
