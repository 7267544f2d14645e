import { domainToASCII } from 'node:url';

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
