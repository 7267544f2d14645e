import { domainToASCII } from 'node:url';
import { DomainError } from '@bubbles/kernel/errors.ts';
import type { Account } from './account.ts';

/** RFC 5321, 4.5.3.1. */
const MAX_LOCAL_BYTES = 64;
const MAX_ADDRESS_BYTES = 254;
/** RFC 6531 without quoted strings: atoms with single dots between them. */
const LOCAL = /^[\p{L}\p{N}\p{M}!#$%&'*+/=?^_`{|}~-]+(?:\.[\p{L}\p{N}\p{M}!#$%&'*+/=?^_`{|}~-]+)*$/u;
/** Only what a host name may hold, since the conversion to ASCII decodes and cuts off other characters. */
const DOMAIN = /^[\p{L}\p{N}\p{M}.-]+$/u;
/** Two labels or more, of which the last one is no number. */
const ASCII_DOMAIN = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

const lowerCase = (text: string): string => text.normalize('NFC').toLowerCase().normalize('NFC');

/** The one form under which an e-mail address is known, and to which mail is sent; null when the text is not an address. */
export const foldAddress = (text: string): string | null => {
  const at = text.lastIndexOf('@');
  const [local, domain] = [lowerCase(text.slice(0, at)), text.slice(at + 1)];
  if (at < 1 || !LOCAL.test(local) || !DOMAIN.test(domain)) return null;
  const host = domainToASCII(domain);
  const folded = `${local}@${host}`;
  const fits = Buffer.byteLength(local) <= MAX_LOCAL_BYTES && Buffer.byteLength(folded) <= MAX_ADDRESS_BYTES;
  return fits && ASCII_DOMAIN.test(host) ? folded : null;
};

/** Folded; null for an account without an address. */
export const addressOf = ({ email }: Pick<Account, 'email'>): string | null => (email === null ? null : foldAddress(email));

/** Folded, for a profile that is to be written. */
export const checkedAddress = (email: string | null): string | null => {
  const folded = addressOf({ email });
  if (email !== null && folded === null) throw new DomainError('invalid', 'email: must be an e-mail address');
  return folded;
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

/** Of two accounts with one address, which an older release allowed, the older one keeps it. */
export const isOlder = (one: Account, other: Account): boolean =>
  one.createdAt.getTime() - other.createdAt.getTime() < 0 || (one.createdAt.getTime() === other.createdAt.getTime() && one.id < other.id);
