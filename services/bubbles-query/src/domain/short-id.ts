/** Digits, then upper, then lower case. */
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const BASE = BigInt(ALPHABET.length);
const SHORT_LENGTH = 22;
/** Digits per chunk that a number holds exactly; big integers digit by digit cost ten times as much. */
const CHUNK_DIGITS = 8;
const CHUNK = BASE ** BigInt(CHUNK_DIGITS);
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const MAX_UUID = 2n ** 128n;

/** The id of app URLs: the uuid's 128 bits in base62, 22 characters. */
export function shortIdOf(uuid: string): string {
  const value = BigInt(`0x${uuid.replaceAll('-', '')}`);
  const rest = value / CHUNK;
  const [high, middle, low] = [rest / CHUNK, rest % CHUNK, value % CHUNK].map(digitsOf);
  return `${high}${middle}${low}`.slice(-SHORT_LENGTH);
}

function digitsOf(chunk: bigint): string {
  let text = '';
  for (let rest = Number(chunk); text.length < CHUNK_DIGITS; rest = Math.floor(rest / ALPHABET.length))
    text = ALPHABET.charAt(rest % ALPHABET.length) + text;
  return text;
}

function uuidOfShort(text: string): string | null {
  let value = 0n;
  for (const character of text) {
    const digit = ALPHABET.indexOf(character);
    if (digit === -1) return null;
    value = value * BASE + BigInt(digit);
  }
  if (value >= MAX_UUID) return null;
  const hex = value.toString(16).padStart(32, '0');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

/** The uuid that a path names, written out in either case or as the short id; null for what is neither. */
export function bubbleIdOf(text: string): string | null {
  if (text.length === SHORT_LENGTH) return uuidOfShort(text);
  const lower = text.toLowerCase();
  return UUID.test(lower) ? lower : null;
}

const UUID_BYTES = 16;

/** The uuid whose 16 bytes begin at `offset`. */
export const uuidText = (bytes: Uint8Array, offset: number): string => {
  const hex = Buffer.from(bytes.subarray(offset, offset + UUID_BYTES)).toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
};
