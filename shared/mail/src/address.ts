import { domainToASCII } from 'node:url';

/** RFC 5321, 4.5.3.1. */
const MAX_LOCAL_BYTES = 64;
const MAX_ADDRESS_BYTES = 254;
/** Longer than any address in any form. To compose letters and to encode a domain takes a time that is quadratic in the length. */
const MAX_UNITS = 1024;
/** RFC 6531 without quoted strings: atoms with single dots between them. */
const LOCAL = /^[\p{L}\p{N}\p{M}!#$%&'*+/=?^_`{|}~-]+(?:\.[\p{L}\p{N}\p{M}!#$%&'*+/=?^_`{|}~-]+)*$/u;
/** Only what a host name may hold, since the conversion to ASCII decodes and cuts off other characters. */
const DOMAIN = /^[\p{L}\p{N}\p{M}.-]+$/u;
/** Two labels or more, of which the last one is no number. */
const ASCII_DOMAIN = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

const lowerCase = (text: string): string => text.normalize('NFC').toLowerCase().normalize('NFC');

/** The one form under which an e-mail address is known, and to which mail is sent; null when the text is not an address. */
export const foldAddress = (text: string): string | null => {
  if (text.length > MAX_UNITS) return null;
  const at = text.lastIndexOf('@');
  const [local, domain] = [lowerCase(text.slice(0, at)), text.slice(at + 1)];
  if (at < 1 || !LOCAL.test(local) || !DOMAIN.test(domain)) return null;
  const host = domainToASCII(domain);
  const folded = `${local}@${host}`;
  const fits = Buffer.byteLength(local) <= MAX_LOCAL_BYTES && Buffer.byteLength(folded) <= MAX_ADDRESS_BYTES;
  return fits && ASCII_DOMAIN.test(host) ? folded : null;
};

interface MailboxRule {
  readonly domain: RegExp;
  /** Canonical domain when all domains of the provider share mailboxes; null when they do not. */
  readonly canonical: string | null;
  /** Characters that the provider ignores in the local part before the tag. */
  readonly ignored: RegExp | null;
}

/** Providers that deliver `ada+anything@` to `ada@`, with their other aliases of one mailbox. */
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

/** Key of the mailbox of a case-folded address: equal for all documented aliases. Only for counting; mail is never sent to it. */
export const mailboxOf = (address: string): string => {
  const at = address.lastIndexOf('@');
  const [local, domain] = [address.slice(0, at), address.slice(at + 1)];
  const rule = MAILBOX_RULES.find((candidate) => candidate.domain.test(domain));
  if (rule === undefined) return address;
  const [name = ''] = local.split('+', 1);
  const plain = rule.ignored === null ? name : name.replaceAll(rule.ignored, '');
  // An address without a name before the tag is not an alias.
  return `${plain || local}@${rule.canonical ?? domain}`;
};
