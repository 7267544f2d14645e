import { DomainError } from '@bubbles/kernel/errors.ts';
import { namesOtherResource } from './grant.ts';
import { type OAuthClient, redirectMatches, scopesAskedFor } from './oauth-client.ts';

/** Query parameters, each with all its values. */
export type Parameters = ReadonlyMap<string, readonly string[]>;

/** Where the browser goes with the answer. */
interface Destination {
  readonly redirectUri: string;
  /** `state` of the client, or null. */
  readonly state: string | null;
}

/** What a client asks a user for. */
export interface AuthorizationRequest extends Destination {
  /** Lower-case hex SHA-256 of its id, which stands in the address of the consent page. */
  readonly hash: string;
  /** Hash of the secret in the browser's cookie. */
  readonly cookieHash: string;
  readonly clientId: string;
  readonly scopes: readonly string[];
  /** RFC 7636, method S256. */
  readonly challenge: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  /** What the user decided; null while nothing is. */
  readonly answer: ConsentAnswer | null;
}

/** The first one counts, so that a form that is sent twice has one code. */
export interface ConsentAnswer {
  readonly accountId: string;
  /** None when the user denied. */
  readonly scopes: readonly string[];
  readonly at: Date;
}

/** A longer `state` would not fit into the headers of the redirect. */
const MAX_STATE_CHARACTERS = 8192;
const isTooLong = (state: string | null): boolean => encodeURIComponent(state ?? '').length > MAX_STATE_CHARACTERS;

/** RFC 6749, 3.1: a parameter without a value was not sent. */
const singleValue = (parameters: Parameters, name: string): string | null => {
  const [only = '', ...others] = parameters.get(name) ?? [];
  return others.length > 0 || only === '' ? null : only;
};

/** Until client and redirect URI are proven, nothing is answered to where they say. */
const unproven = (message: string) => new DomainError('invalid', `${message} Go back to the app and try again.`);

/** Throws for a person to read: the app cannot be told. */
export const askingClient = (parameters: Parameters): string => {
  const clientId = singleValue(parameters, 'client_id');
  if (clientId === null) throw unproven('The app did not say once who it is (client_id).');
  return clientId;
};

export const noSuchClient = () => unproven('There is no such app here (client_id); it may have to be connected again.');

/** Throws like `askingClient`. */
export const destinationOf = (parameters: Parameters, client: OAuthClient): Destination => {
  const redirectUri = singleValue(parameters, 'redirect_uri');
  if (redirectUri === null) throw unproven('The app did not say once where to return to (redirect_uri).');
  if (!redirectMatches(client.redirectUris, redirectUri))
    throw unproven('The app did not register the address to which it wants to return (redirect_uri).');
  const state = singleValue(parameters, 'state');
  return { redirectUri, state: isTooLong(state) ? null : state };
};

/** What is told to the client: RFC 6749, 4.1.2.1. */
interface AuthorizationRefusal {
  readonly error: string;
  readonly error_description: string;
}

const S256_CHALLENGE = /^[\w-]{43}$/;

/** The rules in the order in which they are judged; what none of them names is ignored. */
const RULES: readonly (readonly [error: string, description: string, isBroken: (asked: Asked) => boolean])[] = [
  ['invalid_request', 'a parameter may be sent once', ({ parameters }) => hasRepeated(parameters)],
  ['invalid_request', 'state: is too long', ({ value }) => isTooLong(value('state'))],
  ['request_not_supported', 'request: is not supported', ({ value }) => value('request') !== null],
  ['request_uri_not_supported', 'request_uri: is not supported', ({ value }) => value('request_uri') !== null],
  ['invalid_request', 'response_type: is required', ({ value }) => value('response_type') === null],
  ['unsupported_response_type', 'response_type: must be code', ({ value }) => value('response_type') !== 'code'],
  ['invalid_request', 'response_mode: must be query', ({ value }) => !['query', null].includes(value('response_mode'))],
  ['invalid_request', 'code_challenge: is required (PKCE)', ({ value }) => value('code_challenge') === null],
  ['invalid_request', 'code_challenge_method: must be S256', ({ value }) => value('code_challenge_method') !== 'S256'],
  [
    'invalid_request',
    'code_challenge: must be 43 characters of base64url',
    ({ value }) => !S256_CHALLENGE.test(value('code_challenge') ?? ''),
  ],
  ['invalid_scope', 'scope: the app may not ask for this', ({ value, client }) => scopesAskedFor(value('scope') ?? '', client) === null],
  ['invalid_target', 'resource: is not this API', ({ parameters, issuer }) => namesOtherResource(parameters.get('resource') ?? [], issuer)],
  ['consent_required', 'prompt: the user is asked each time', ({ value }) => (value('prompt') ?? '').split(' ').includes('none')],
];

interface Asked {
  readonly parameters: Parameters;
  readonly client: OAuthClient;
  readonly issuer: string;
  readonly value: (name: string) => string | null;
}

/** Several resources may be named. */
const hasRepeated = (parameters: Parameters): boolean =>
  parameters.entries().some(([name, values]) => values.length > 1 && name !== 'resource');

/** What is wrong with the request of a proven client; null when the user is to be asked. */
export const authorizationRefusal = (asked: Omit<Asked, 'value'>): AuthorizationRefusal | null => {
  const value = (name: string) => singleValue(asked.parameters, name);
  const broken = RULES.find(([, , isBroken]) => isBroken({ ...asked, value }));
  return broken ? { error: broken[0], error_description: broken[1] } : null;
};

interface RequestSeed extends Pick<AuthorizationRequest, 'hash' | 'cookieHash'> {
  readonly at: Date;
}

const REQUEST_MS = 30 * 60 * 1000;
/** How long a browser keeps the cookie of a request. */
export const REQUEST_SECONDS = REQUEST_MS / 1000;

/** Builds the request from parameters that were validated before. */
export const authorizationRequest = (parameters: Parameters, client: OAuthClient, { at, ...seed }: RequestSeed): AuthorizationRequest => ({
  ...seed,
  ...destinationOf(parameters, client),
  clientId: client.id,
  scopes: scopesAskedFor(singleValue(parameters, 'scope') ?? '', client) ?? [],
  challenge: singleValue(parameters, 'code_challenge') ?? '',
  createdAt: at,
  expiresAt: new Date(at.getTime() + REQUEST_MS),
  answer: null,
});

/** The redirect URI with the answer behind its own query; `iss` as RFC 9207 has it. */
export const answerUrl = (
  { redirectUri, state }: Destination,
  answer: { readonly code: string } | AuthorizationRefusal,
  issuer: string,
): string => {
  const pairs = Object.entries({ ...answer, ...(state !== null && { state }), iss: issuer });
  const query = pairs.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&');
  return `${redirectUri}${redirectUri.includes('?') ? '&' : '?'}${query}`;
};

/** The user, or what is left of their account, says no. */
export const ACCESS_DENIED: AuthorizationRefusal = { error: 'access_denied', error_description: 'The user did not allow it.' };

/** The ticked scopes that the client asked for; other scopes in the form are not granted. */
export const grantedScopes = ({ scopes }: Pick<AuthorizationRequest, 'scopes'>, ticked: readonly string[]): readonly string[] =>
  scopes.filter((scope) => ticked.includes(scope));
