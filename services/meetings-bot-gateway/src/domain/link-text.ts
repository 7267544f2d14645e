/** A path with its query and fragment, still percent-encoded. Empty segments are left out. */
export interface LinkLocation {
  readonly segments: readonly string[];
  readonly query: string;
  readonly fragment: string;
}

/** A link on a known host, taken apart as text. */
export interface LinkText extends LinkLocation {
  /** Lower case. */
  readonly host: string;
  /** The host's row in the table of known hosts: the host itself, or the domain it lies below. */
  readonly domain: string;
}

/** Made from captured parts alone; `key` names the meeting and holds no passcode. */
export interface RebuiltLink {
  readonly url: string;
  readonly key: string;
}

/** `page`: a page of the platform that is not a meeting. `passcode`: a passcode or token that the platform cannot have made. */
export type LinkFault = 'page' | 'passcode';

const LOCATION = /^(\/[^?#]*)(?:\?([^#]*))?(?:#(.*))?$/;
/** Escapes of ASCII only, so that decoding cannot fail. */
const ASCII_ESCAPES = /^(?:[^%]|%[0-7][\da-f])*$/i;
const PASSCODE = /^[\w.~=-]+$/;

export const splitLocation = (text: string): LinkLocation | null => {
  const parts = LOCATION.exec(text);
  if (parts === null) return null;
  const [, path = '', query = '', fragment = ''] = parts;
  return { segments: path.split('/').filter((segment) => segment !== ''), query, fragment };
};

/** Percent-decoded once; null when an escape is broken or not ASCII. */
export const decoded = (text: string): string | null => {
  if (!text.includes('%')) return text;
  return ASCII_ESCAPES.test(text) ? decodeURIComponent(text) : null;
};

/** The first value of the parameter, still encoded. Links copied out of HTML separate parameters by `&amp;`. */
export const parameter = (query: string, name: string): string | null => {
  if (!query.includes(name)) return null;
  const start = `${name}=`;
  for (const part of query.split('&')) {
    const pair = part.startsWith('amp;') ? part.slice('amp;'.length) : part;
    if (pair.startsWith(start)) return pair.slice(start.length);
  }
  return null;
};

/** The query of a rebuilt link: those of the named secrets that the link has, or null when one has a character that none can have. */
export const secretsQuery = (query: string, names: readonly string[]): string | null => {
  let rebuilt = '';
  for (const name of names) {
    const raw = parameter(query, name);
    if (raw === null || raw === '') continue;
    const value = decoded(raw);
    if (value === null || !PASSCODE.test(value)) return null;
    rebuilt += `${rebuilt === '' ? '?' : '&'}${name}=${value}`;
  }
  return rebuilt;
};
