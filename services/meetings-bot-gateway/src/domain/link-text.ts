/** A path with its query and fragment, still percent-encoded. */
export interface LinkLocation {
  /** Without slashes at its ends; doubled ones are single. */
  readonly path: string;
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

/** Escapes of ASCII only, so that decoding cannot fail. */
const ASCII_ESCAPES = /^(?:[^%]|%[0-7][\da-f])*$/i;
const PASSCODE = /^[\w.~=-]+$/;

const withSingleSlashes = (path: string): string => (path.includes('//') ? path.replace(/\/{2,}/g, '/') : path);

/** `text` is empty or starts with the slash of its path. */
export const splitLocation = (text: string): LinkLocation => {
  const hash = text.indexOf('#');
  const fragment = hash === -1 ? '' : text.slice(hash + 1);
  const address = hash === -1 ? text : text.slice(0, hash);
  const mark = address.indexOf('?');
  const path = withSingleSlashes(mark === -1 ? address : address.slice(0, mark));
  return { path: path.slice(1, path.endsWith('/') ? -1 : undefined), query: mark === -1 ? '' : address.slice(mark + 1), fragment };
};

/** Percent-decoded once; null when an escape is broken or not ASCII. */
export const decoded = (text: string): string | null => {
  if (!text.includes('%')) return text;
  return ASCII_ESCAPES.test(text) ? decodeURIComponent(text) : null;
};

/** The first value of the parameter, still encoded. Links copied out of HTML separate parameters by `&amp;`. */
export const parameter = (query: string, name: string): string | null => {
  const start = `${name}=`;
  for (let at = query.indexOf(start); at !== -1; at = query.indexOf(start, at + 1)) {
    if (at > 0 && query[at - 1] !== '&' && !query.endsWith('&amp;', at)) continue;
    const end = query.indexOf('&', at);
    return query.slice(at + start.length, end === -1 ? undefined : end);
  }
  return null;
};

/** The query of a rebuilt link: those of the named secrets that the link has, or null when one has a character that none can have. */
export const secretsQuery = (query: string, names: readonly string[]): string | null => {
  let rebuilt = '';
  if (query === '') return rebuilt;
  for (const name of names) {
    const raw = parameter(query, name);
    if (raw === null || raw === '') continue;
    const value = decoded(raw);
    if (value === null || !PASSCODE.test(value)) return null;
    rebuilt += `${rebuilt === '' ? '?' : '&'}${name}=${value}`;
  }
  return rebuilt;
};
