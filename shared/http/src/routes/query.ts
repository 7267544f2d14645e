import { DomainError } from '@bubbles/kernel/errors.ts';
import { isPlainText, PLAIN_TEXT_RULE } from './text.ts';

const MAX_PARAMETERS = 50;

/** `+` is a blank; the bytes behind `%` must be UTF-8. */
const decode = (raw: string): string | null => {
  const spaced = raw.includes('+') ? raw.replaceAll('+', ' ') : raw;
  if (!spaced.includes('%')) return spaced;
  try {
    return decodeURIComponent(spaced);
  } catch {
    return null;
  }
};

const split = (pair: string): readonly [string, string] => {
  const at = pair.indexOf('=');
  return at === -1 ? [pair, ''] : [pair.slice(0, at), pair.slice(at + 1)];
};

/** Every parameter with all its values, unknown ones too. */
const parameters = (raw: string): Map<string, readonly string[]> => {
  const pairs = raw.split('&').filter((pair) => pair !== '');
  if (pairs.length > MAX_PARAMETERS) throw new DomainError('invalid', `query: at most ${MAX_PARAMETERS} parameters`);
  const found = new Map<string, readonly string[]>();
  for (const pair of pairs) {
    const [name, value] = split(pair).map(decode);
    if (name == null || value == null) throw new DomainError('invalid', 'query: malformed percent-encoding');
    if (!isPlainText(name) || !isPlainText(value)) throw new DomainError('invalid', `query: ${PLAIN_TEXT_RULE}`);
    found.set(name, [...(found.get(name) ?? []), value]);
  }
  return found;
};

/** The known parameters of a raw query (without `?`), each of which may be there once and not empty. */
export const knownParameters = (raw: string, known: readonly string[]): Readonly<Record<string, string>> => {
  const picked: Record<string, string> = Object.create(null);
  if (raw === '') return picked;
  const all = parameters(raw);
  for (const name of known) {
    const values = all.get(name);
    if (values === undefined) continue;
    const [value] = values;
    if (values.length > 1) throw new DomainError('invalid', `${name}: may be given once`);
    if (value === undefined || value === '') throw new DomainError('invalid', `${name}: must not be empty`);
    picked[name] = value;
  }
  return picked;
};
