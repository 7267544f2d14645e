import { isIP } from 'node:net';
import { DomainError } from '@bubbles/kernel/errors.ts';
import { foldAddress } from '@bubbles/mail/address.ts';

/** Of somebody who wants to sign up. */
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

/** Why a text that is no address is none, for whoever typed it. */
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

interface MailboxRule {
  readonly domain: RegExp;
  /** All of its domains lead to the mailbox of this one; null where each is a mailbox of its own. */
  readonly canonical: string | null;
  /** What the provider leaves out of the part before the tag. */
  readonly ignored: RegExp | null;
}

/** Providers that deliver `ada+anything@` to `ada@`, and what else they take for the same mailbox. */
const MAILBOX_RULES: readonly MailboxRule[] = [
  { domain: /^(?:gmail|googlemail)\.com$/, canonical: 'gmail.com', ignored: /\./g },
  { domain: /^(?:proton\.me|protonmail\.(?:com|ch)|pm\.me)$/, canonical: 'proton.me', ignored: /[._-]/g },
  { domain: /^(?:yandex\.[a-z.]+|ya\.ru)$/, canonical: 'yandex.com', ignored: /[.-]/g },
  { domain: /^(?:icloud|me|mac)\.com$/, canonical: 'icloud.com', ignored: null },
  { domain: /^(?:outlook|hotmail|live)\.[a-z.]+$|^(?:msn|passport)\.com$/, canonical: null, ignored: null },
  {
    domain: /^(?:fastmail\.(?:com|fm)|hey\.com|zoho(?:mail)?\.(?:com|eu|in)|mailbox\.org|posteo\.(?:de|net)|runbox\.com)$/,
    canonical: null,
    ignored: null,
  },
];

const mailboxOf = (local: string, domain: string): string => {
  const rule = MAILBOX_RULES.find((candidate) => candidate.domain.test(domain));
  if (rule === undefined) return `${local}@${domain}`;
  const [name = ''] = local.split('+', 1);
  const plain = rule.ignored === null ? name : name.replaceAll(rule.ignored, '');
  // What would have no name left is no alias of anything.
  return `${plain || local}@${rule.canonical ?? domain}`;
};

/** Throws `invalid` with the reason when the text is no address that mail can be sent to. */
export const readEmailAddress = (text: string): EmailAddress => {
  const address = foldAddress(text);
  if (address === null) throw new DomainError('invalid', `email: ${faultOf(text)}`);
  const at = address.lastIndexOf('@');
  const [local, domain] = [address.slice(0, at), address.slice(at + 1)];
  return { address, domain, mailbox: mailboxOf(local, domain) };
};
