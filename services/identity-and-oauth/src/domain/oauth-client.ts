import { SCOPES } from '@bubbles/contracts/access.ts';
import { DomainError } from '@bubbles/kernel/errors.ts';

const AUTH_METHODS = ['none', 'client_secret_basic', 'client_secret_post'] as const;
/** How an OAuth client proves itself at the token endpoint. */
type ClientAuthMethod = (typeof AUTH_METHODS)[number];

/** What an app says of itself. */
export interface ClientMetadata {
  /** Name that the app gave itself; it is not verified. */
  readonly name: string;
  readonly redirectUris: readonly string[];
  readonly authMethod: ClientAuthMethod;
  /** What it may ask for. */
  readonly scopes: readonly string[];
  /** An https page about the app, or null. */
  readonly clientUri: string | null;
}

/** An app that asks for access: registered (RFC 7591), or described by a document at the URL that is its id. */
export interface OAuthClient extends ClientMetadata {
  readonly id: string;
  /** Lower-case hex SHA-256 of the client's secret; null for a public client. */
  readonly secretHash: string | null;
  readonly issuedAt: Date;
}

/** A client that has proved itself. */
export type AuthenticatedClient = Pick<OAuthClient, 'id'>;

export interface RegisteredClient extends OAuthClient {
  /** Lower-case hex SHA-256 of the token with which the app manages its registration. */
  readonly registrationTokenHash: string;
  /** Whether anybody has allowed it something. */
  readonly authorized: boolean;
  /** When it was registered, or last known to hold a grant. */
  readonly lastUsedAt: Date;
}

const MAX_NAME_CHARACTERS = 80;
/** A longer text has more characters than a name may have, however its letters are written. */
const MAX_NAME_UNITS = 8 * MAX_NAME_CHARACTERS;
const UNNAMED = 'Unnamed app';
const MAX_REDIRECT_URIS = 10;
const MAX_URI_CHARACTERS = 2048;

// Control and format characters (bidirectional overrides and zero-width ones among them), halves of surrogate pairs, line separators, and what is drawn as
// nothing. The selectors of emoji are left: they make no name read as another.
const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}]|(?![\ufe0e\ufe0f])\p{Default_Ignorable_Code_Point}/u;
const VISIBLE = /[^\p{Z}\p{M}\u2800]/u;

/** A parsed JSON object, field by field as RFC 7591 names them. */
type SentMetadata = Readonly<Record<string, unknown>>;

/** The rules for every client, registered or described by a document; what they do not name is dropped. Throws as RFC 7591, 3.2.2. */
export const clientMetadata = (sent: SentMetadata): ClientMetadata => {
  checkTypesOf('grant_types', sent['grant_types'], 'authorization_code');
  checkTypesOf('response_types', sent['response_types'], 'code');
  return {
    name: nameIn(sent['client_name']),
    redirectUris: redirectUrisIn(sent['redirect_uris']),
    authMethod: authMethodIn(sent['token_endpoint_auth_method']),
    scopes: scopesIn(sent['scope']),
    clientUri: clientUriIn(sent['client_uri']),
  };
};

const badMetadata = (message: string) => new DomainError('invalid', message, { type: 'invalid_client_metadata' });
const badRedirectUri = (message: string) => new DomainError('invalid', message, { type: 'invalid_redirect_uri' });

/** RFC 7591, 2: a field that is null is one that was not sent. */
const isAbsent = (value: unknown): value is null | undefined => value === null || value === undefined;

const checkTypesOf = (field: string, value: unknown, needed: string): void => {
  if (isAbsent(value) || (Array.isArray(value) && value.includes(needed))) return;
  throw badMetadata(`${field}: must be a list with ${needed}`);
};

const nameIn = (value: unknown): string => {
  if (isAbsent(value)) return UNNAMED;
  if (typeof value !== 'string') throw badMetadata('client_name: must be text');
  // To compose letters takes a time that is quadratic in the length: nothing that stays too long is composed.
  const name = value.length > MAX_NAME_UNITS ? value : value.normalize('NFC').trim();
  if (!VISIBLE.test(name) || UNPRINTABLE.test(value) || [...name].length > MAX_NAME_CHARACTERS)
    throw badMetadata(`client_name: must be 1 to ${MAX_NAME_CHARACTERS} printable characters`);
  return name;
};

const authMethodIn = (value: unknown): ClientAuthMethod => {
  if (isAbsent(value)) return 'client_secret_basic';
  const method = AUTH_METHODS.find((one) => one === value);
  if (method === undefined) throw badMetadata(`token_endpoint_auth_method: must be one of ${AUTH_METHODS.join(', ')}`);
  return method;
};

const ALL_SCOPES: readonly string[] = Object.keys(SCOPES);

const scopesIn = (value: unknown): readonly string[] => {
  if (!isAbsent(value) && typeof value !== 'string') throw badMetadata('scope: must be text, with blanks between the scopes');
  const sent = namesIn(value ?? '');
  const known = ALL_SCOPES.filter((scope) => sent.has(scope));
  return known.length === 0 ? ALL_SCOPES : known;
};

const namesIn = (scope: string): ReadonlySet<string> => new Set(scope.split(' ').filter((name) => name !== ''));

const clientUriIn = (value: unknown): string | null =>
  typeof value === 'string' && value.startsWith('https:') && faultOf(value) === null ? value : null;

const redirectUrisIn = (value: unknown): readonly string[] => {
  if (!Array.isArray(value) || value.length === 0 || value.length > MAX_REDIRECT_URIS)
    throw badRedirectUri(`redirect_uris: must be a list of 1 to ${MAX_REDIRECT_URIS} URIs`);
  const uris = value.map((uri: unknown, index) => {
    if (typeof uri !== 'string') throw badRedirectUri(`redirect_uris.${index}: must be text`);
    const fault = faultOf(uri);
    if (fault !== null) throw badRedirectUri(`redirect_uris.${index}: ${fault}`);
    return uri;
  });
  return [...new Set(uris)];
};

/** Those that run in the browser, read its files, send data on, or open something that is no app of the user's choice. */
const REFUSED_SCHEMES = new Set(
  'javascript data vbscript file blob about ftp ws wss mailto tel sms intent content filesystem view-source'.split(' '),
);
const PRINTABLE_ASCII = /^[!-~]+$/;
const SCHEME = /^([a-z][a-z0-9+.-]*):(.+)$/i;
const AUTHORITY = /^\/\/([^/?]*)/;
const DOT_SEGMENT = /(?:^|\/)(?:\.|%2e){1,2}(?=[/?;]|$)/i;
const LOOPBACK = /^\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?(?=[/?]|$)/;
const HOST = /^\/\/[^/?:]/;

/** What is wrong with a redirect URI; null when nothing is. It is judged as it is written, since parsers read more into it: `127.1`, tabs, upper case. */
const faultOf = (uri: string): string | null => {
  if (uri.length > MAX_URI_CHARACTERS) return `must have at most ${MAX_URI_CHARACTERS} characters`;
  const [, scheme = '', rest = ''] = SCHEME.exec(uri) ?? [];
  if (!PRINTABLE_ASCII.test(uri) || /[\\*#]/.test(uri)) return 'must be ASCII without blanks, backslash, wildcard or fragment';
  if (scheme === '' || !URL.canParse(uri)) return 'must be an absolute URI';
  return authorityFault(scheme.toLowerCase(), rest) ?? (DOT_SEGMENT.test(pathOf(rest)) ? 'must be without dot segments' : null);
};

const authorityFault = (scheme: string, rest: string): string | null => {
  if (REFUSED_SCHEMES.has(scheme)) return `the scheme ${scheme} is not allowed`;
  if (AUTHORITY.exec(rest)?.[1]?.includes('@')) return 'must be without user and password';
  if (scheme === 'https' && !HOST.test(rest)) return 'must have a host';
  if (scheme === 'http' && !LOOPBACK.test(rest)) return 'http is for localhost, 127.0.0.1 and [::1] only: use https';
  return null;
};

const pathOf = (rest: string): string => rest.replace(AUTHORITY, '').split('?', 1)[0] ?? '';

/** RFC 8252, 7.3: an app on the user's own machine takes whatever port is free. */
const LOOPBACK_URI = /^(http:\/\/(?:localhost|127\.0\.0\.1|\[::1\]))(?::([1-9]\d{0,4}))?((?:[/?].*)?)$/s;
const MAX_PORT = 65_535;

/** With everything but its port; null when it is no loopback URI. */
const withoutPort = (uri: string): string | null => {
  const [, origin, port = '80', rest = ''] = LOOPBACK_URI.exec(uri) ?? [];
  return origin === undefined || Number(port) > MAX_PORT ? null : origin + rest;
};

/** Character by character; only the port of a loopback URI may be another one. */
export const redirectMatches = (registered: readonly string[], asked: string): boolean => {
  if (registered.includes(asked)) return true;
  const loopback = withoutPort(asked);
  return loopback !== null && registered.some((uri) => withoutPort(uri) === loopback);
};

/** Scopes of OpenID Connect, which many clients request although the server does not offer them. */
const TOLERATED_SCOPES: ReadonlySet<string> = new Set(['openid', 'profile', 'email', 'offline_access']);

/** What the user is asked for; all that the client may ask for when it names nothing. Null when it asks for more than it may. */
export const scopesAskedFor = (scope: string, { scopes }: Pick<OAuthClient, 'scopes'>): readonly string[] | null => {
  const names = [...namesIn(scope)].filter((name) => !TOLERATED_SCOPES.has(name));
  if (names.length === 0) return scopes;
  return names.every((name) => scopes.includes(name)) ? scopes.filter((name) => names.includes(name)) : null;
};
