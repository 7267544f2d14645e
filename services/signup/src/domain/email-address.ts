import { isIP } from 'node:net';
import { DomainError } from '@bubbles/kernel/errors.ts';
import { foldAddress, mailboxOf } from '@bubbles/mail/address.ts';

/** An e-mail address for signup. */
export interface EmailAddress {
  /** Folded as identity folds it: what mail is sent to. */
  readonly address: string;
  /** In ASCII and lower case. */
  readonly domain: string;
  /** The same for all addresses that one mailbox receives, as far as its provider says so. Only for counting: nothing is sent to it. */
  readonly mailbox: string;
}

const MAX_LOCAL_BYTES = 64;
const MAX_LABEL = 63;
const MAX_ADDRESS_BYTES = 254;

const faultOfDomain = (domain: string): string | null => {
  if (domain.startsWith('[') || isIP(domain) !== 0) return 'must have a domain name after the @, not an IP address.';
  if (!domain.includes('.')) return 'must have a domain of at least two parts after the @, as in ada@example.com.';
  if (domain.split('.').some((label) => label.length > MAX_LABEL))
    return `no part of the domain may have more than ${MAX_LABEL} characters.`;
  return null;
};

/** Explains why a text is not an address, for the person who typed it. */
const faultOf = (text: string): string => {
  if (/\p{Cc}/u.test(text)) return 'must not hold line breaks or other control characters.';
  const at = text.lastIndexOf('@');
  const [local, domain] = [text.slice(0, Math.max(at, 0)), text.slice(at + 1)];
  if (local === '' || domain === '') return 'must be an e-mail address such as ada@example.com.';
  if (local.startsWith('"')) return 'addresses with quotation marks before the @ are not supported. Use another address.';
  if (Buffer.byteLength(local) > MAX_LOCAL_BYTES) return `must have at most ${MAX_LOCAL_BYTES} bytes before the @.`;
  if (Buffer.byteLength(text) > MAX_ADDRESS_BYTES) return `must have at most ${MAX_ADDRESS_BYTES} bytes.`;
  return faultOfDomain(domain) ?? 'must be an e-mail address such as ada@example.com.';
};

/** Throws `invalid` with the reason when the text is no address that mail can be sent to. */
export const readEmailAddress = (text: string): EmailAddress => {
  const address = foldAddress(text);
  if (address === null) throw new DomainError('invalid', `email: ${faultOf(text)}`);
  const domain = address.slice(address.lastIndexOf('@') + 1);
  return { address, domain, mailbox: mailboxOf(address) };
};
