import fc from 'fast-check';
import { headerText, hostileBody, hostileText, hostileValue } from './hostile.ts';
import { isJson, type Json, resolve } from './json-schema.ts';
import type { Operation, Parameter } from './operations.ts';

/** What requests are made of that may do something: ids, cursors, credentials. They grow as the run goes. */
export interface Pool {
  readonly ids: Readonly<Record<'bubbles' | 'webhooks' | 'deliveries' | 'keys' | 'joins' | 'teams' | 'channels', string[]>>;
  /** Deliveries with the subscription that they belong to, as they stand in a path. */
  readonly pairs: string[];
  readonly cursors: string[];
  readonly pats: string[];
  readonly sessions: string[];
  /** Public clients of the OAuth server. */
  readonly clients: string[];
  /** Sessions of signups that have come to the workspace step, or have taken it. */
  readonly signups: string[];
  /** Of signups that were begun: session and code, each good once. */
  readonly codes: SignupCode[];
  /** Forms that refresh the tokens of a grant, each once. */
  readonly refreshes: string[];
  readonly receiver: string;
}

export interface SignupCode {
  readonly signup_session: string;
  readonly code: string;
}

export interface FuzzRequest {
  readonly operation: Operation;
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

/** Of the pool as it is when the value is drawn: where in it, and that is looked up then. */
const pooled = (list: readonly string[], otherwise = 'absent') =>
  fc.nat({ max: 9999 }).map((n) => list[n % Math.max(1, list.length)] ?? otherwise);

const pooledCode = ({ codes }: Pool): fc.Arbitrary<SignupCode> =>
  fc.nat({ max: 9999 }).map((n) => codes[n % Math.max(1, codes.length)] ?? { signup_session: 'absent', code: '000000' });

const POOL_OF: Readonly<Record<string, (pool: Pool) => readonly string[]>> = {
  '/v1/bubbles': ({ ids }) => ids.bubbles,
  '/v1/webhooks': ({ ids }) => ids.webhooks,
  '/v1/api-keys': ({ ids }) => ids.keys,
  '/v1/meetings/join': ({ ids }) => ids.joins,
};

const rawText = (text: string): string => encodeURIComponent(text.toWellFormed()).replaceAll('%25', '%');

function pathOf({ path, parameters }: Operation, pool: Pool): fc.Arbitrary<string> {
  const home = Object.entries(POOL_OF).find(([prefix]) => path.startsWith(prefix))?.[1](pool) ?? [];
  const places = parameters.filter((parameter) => parameter.in === 'path');
  const values = places.map(({ name }) =>
    fc.oneof(
      { weight: 4, arbitrary: pooled(name === 'delivery_id' ? pool.ids.deliveries : home) },
      { weight: 1, arbitrary: hostileText.map((text) => encodeURIComponent(text.toWellFormed())) },
      { weight: 1, arbitrary: hostileText.map(rawText) },
    ),
  );
  const filled = fc
    .tuple(...values)
    .map((chosen) => places.reduce((text, { name }, n) => text.replace(`{${name}}`, chosen[n] || 'x'), path));
  if (places.length < 2) return filled;
  return fc.oneof(
    filled,
    pooled(pool.pairs).map((pair) => path.replace(/\{id\}.*\{delivery_id\}/, pair)),
  );
}

/** Something that the schema allows, as far as the document can tell. */
function fitting(document: Json, schema: unknown, pool: Pool, name = ''): fc.Arbitrary<unknown> {
  if (!isJson(schema)) return fc.constant(null);
  if (typeof schema['$ref'] === 'string') return fitting(document, resolve(document, schema['$ref']), pool, name);
  if (schema['const'] !== undefined) return fc.constant(schema['const']);
  if (Array.isArray(schema['enum'])) return fc.constantFrom(...schema['enum']);
  if (isJson(schema['properties'])) {
    const fields = Object.entries(schema['properties']).map(([key, inner]) => [key, fitting(document, inner, pool, key)] as const);
    return fc.record(Object.fromEntries(fields), { requiredKeys: Array.isArray(schema['required']) ? schema['required'].map(String) : [] });
  }
  if (schema['type'] === 'array') return fc.array(fitting(document, schema['items'], pool, name), { minLength: 1, maxLength: 3 });
  if (schema['type'] === 'boolean') return fc.boolean();
  if (schema['type'] === 'integer') return fc.integer({ min: Number(schema['minimum'] ?? 0), max: Number(schema['maximum'] ?? 100) });
  if (schema['format'] === 'date-time') return INSTANT;
  return fittingText(name, pool);
}

const instants = (max: Date) => fc.date({ noInvalidDate: true, min: new Date(0), max }).map((date) => date.toISOString());
/** Most lie in the past. */
const INSTANT = fc.oneof({ weight: 3, arbitrary: instants(new Date()) }, instants(new Date('2100-01-01')));

/** Of the clients in the pool. */
export const CALLBACK = 'https://client.test/callback';

/** Of every platform; each is one running join of a team, so that asking again costs nobody a place of the hour. */
export const MEETINGS = [
  'https://meet.google.com/abc-defg-hij',
  'https://teams.live.com/meet/9312345678901?p=Secret42',
  'https://zoom.us/j/1234567890?pwd=Secret42',
  'https://acme.webex.com/meet/ada',
  'https://meet.goto.com/123456789',
] as const;

function fittingText(name: string, pool: Pool): fc.Arbitrary<string> {
  if (name === 'url') return fc.constantFrom(pool.receiver, `${pool.receiver}?x=1`, 'http://10.0.0.1/', 'ftp://a.example/');
  if (name === 'meeting_url') return fc.constantFrom(...MEETINGS, 'https://meet.google.com/', 'zoom.us.evil.example/j/1234567890');
  if (name === 'team_id') return pooled(pool.ids.teams);
  if (name === 'space_id') return pooled(pool.ids.channels);
  if (name === 'signup_session') return pooled(pool.signups);
  // A mailbox is mailed ten codes an hour.
  if (name === 'email')
    return fc.oneof(
      fc.nat().map((n) => `ada-${n}@fuzz.example`),
      fc.constantFrom('ada', 'ada@mailinator.com'),
    );
  if (name === 'cursor') return pooled(pool.cursors);
  if (name === 'client_id') return pooled(pool.clients);
  if (name === 'redirect_uri') return fc.constant(CALLBACK);
  if (name === 'code_challenge') return fc.constant('E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM');
  if (name === 'scope') return fc.constantFrom('bubbles:read', 'bubbles:read meetings:join', 'all');
  if (name === 'redirect_uris')
    return fc.constantFrom(CALLBACK, `${CALLBACK}?x=1`, 'http://127.0.0.1:7000/', 'cursor://a/b', 'http://a.test/');
  if (name === 'grant_type') return fc.constantFrom('refresh_token', 'authorization_code', 'password');
  if (name === 'grant_types') return fc.constantFrom('authorization_code', 'authorization_code', 'authorization_code', 'implicit');
  if (name === 'response_types') return fc.constantFrom('code', 'code', 'code', 'token');
  if (name === 'client_name') return fc.constantFrom('App', 'Grüße 🎈', 'x'.repeat(80), '\u202e');
  if (name === 'client_uri') return fc.constantFrom('https://client.test/', 'http://client.test/', 'a');
  if (name === 'token_endpoint_auth_method') return fc.constantFrom('none', 'client_secret_basic', 'client_secret_post', 'x');
  return fc.constantFrom('a', 'product', 'meeting notes', 'Grüße 🎈', 'x'.repeat(100));
}

const aboutHalf = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | null> => fc.option(arbitrary, { freq: 1 });

function queryOf(document: Json, parameters: readonly Parameter[], pool: Pool): fc.Arbitrary<string> {
  const known = parameters
    .filter((parameter) => parameter.in === 'query')
    .map(({ name, schema, required }) => {
      const good = fitting(document, schema, pool, name).map((value) => encodeURIComponent(String(value)));
      const value = fc.oneof(
        { weight: 7, arbitrary: good },
        { weight: 1, arbitrary: hostileText.map((text) => encodeURIComponent(text.toWellFormed())) },
        { weight: 1, arbitrary: hostileText.map(rawText) },
      );
      const pair = value.map((text) => `${name}=${text}`);
      return required ? fc.oneof({ weight: 9, arbitrary: pair }, fc.constant(null)) : aboutHalf(pair);
    });
  const stray = fc.oneof(
    { weight: 6, arbitrary: fc.constant(null) },
    fc.constantFrom('limit=1&limit=2', 'x[]=1', '__proto__=1', '=', '&&', 'limit', 'a=1&'.repeat(60)),
    hostileText.map((text) => `u=${rawText(text)}`),
  );
  return fc.tuple(...known, stray).map((pairs) => pairs.filter((pair) => pair !== null).join('&'));
}

const FORM = 'application/x-www-form-urlencoded';

/** A form as browsers write it; what is no object, as it is. */
function formOf(value: unknown): string {
  if (!isJson(value)) return String(value);
  const pairs = Object.entries(value).flatMap(([name, values]) => [values].flat().map((one) => `${name}=${rawText(textOf(one))}`));
  return pairs.join('&');
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

function bodyOf(document: Json, { id, method, body }: Operation, pool: Pool): fc.Arbitrary<string | null> {
  if (method === 'GET') return fc.constant(null);
  if (body === null) return fc.oneof({ weight: 9, arbitrary: fc.constant(null) }, hostileBody);
  const write = body.mediaType === FORM ? formOf : JSON.stringify;
  const good = fitting(document, body.schema, pool);
  const spoilt = fc.tuple(good, fc.nat(), hostileValue).map(([value, at, hostile]) => {
    const keys = isJson(value) ? [...Object.keys(value), 'extra'] : [];
    return isJson(value) ? { ...value, [keys[at % keys.length] ?? 'extra']: hostile } : hostile;
  });
  return fc.oneof(
    { weight: 5, arbitrary: good.map((value) => write(value)) },
    { weight: 4, arbitrary: spoilt.map((value) => write(value)) },
    { weight: 1, arbitrary: good.map((value) => [write(value), write(value)].join('&')) },
    { weight: 1, arbitrary: hostileValue.map((value) => write(value)) },
    { weight: 1, arbitrary: hostileBody },
    { weight: 1, arbitrary: fc.constant(null) },
    ...(id === 'verifySignup' ? [{ weight: 4, arbitrary: pooledCode(pool).map((pair) => write(pair)) }] : []),
    ...(id === 'issueTokens' ? [{ weight: 4, arbitrary: pooled(pool.refreshes) }] : []),
  );
}

/** Some that come again, with the same body and with another. */
const idempotencyKey = fc.oneof({ weight: 3, arbitrary: fc.constantFrom('key-1', 'key-2', 'key-3') }, headerText);

function headersOf({ path, method, body }: Operation, pool: Pool): fc.Arbitrary<Readonly<Record<string, string>>> {
  const [own, other] =
    path.startsWith('/v1/api-keys') || (path === '/v1/webhooks' && method === 'POST')
      ? [pool.sessions, pool.pats]
      : [pool.pats, pool.sessions];
  const bearer = fc
    .oneof({ weight: 12, arbitrary: pooled(own) }, { weight: 2, arbitrary: pooled(other) })
    .map((token) => `Bearer ${token}`);
  const authorization = fc.oneof(
    { weight: 14, arbitrary: bearer },
    headerText,
    headerText.map((text) => `Bearer ${text}`),
    // Apps say in the form who they are.
    { weight: path.startsWith('/oauth/') ? 14 : 1, arbitrary: fc.constant(null) },
  );
  const strange = fc.record(
    {
      'user-agent': headerText,
      accept: headerText,
      cookie: headerText,
      'if-none-match': headerText,
      'x-forwarded-for': headerText,
      'x-forwarded-host': headerText,
      'x-request-id': headerText,
      'x-user-id': headerText,
      'x-internal-assertion': headerText,
      'x-http-method-override': fc.constantFrom('DELETE', 'PUT'),
      'idempotency-key': idempotencyKey,
      range: fc.constantFrom('bytes=0-1', 'x'),
      traceparent: headerText,
    },
    { requiredKeys: [] },
  );
  const type = fc.oneof(
    { weight: 12, arbitrary: fc.constant(body?.mediaType ?? 'application/json') },
    fc.constantFrom('text/plain', 'application/json', 'application/json; charset=utf-16', FORM, 'multipart/form-data'),
  );
  return fc.tuple(authorization, fc.option(strange, { freq: 1 }), type).map(([credential, odd, contentType]) => ({
    ...odd,
    'content-type': contentType,
    ...(credential === null ? {} : { authorization: credential }),
  }));
}

/** Requests of one operation, good, nearly good and bad. */
export function requestsOf(document: Json, operation: Operation, pool: Pool): fc.Arbitrary<FuzzRequest> {
  return fc
    .record({
      path: pathOf(operation, pool),
      query: fc.oneof(
        { weight: 3, arbitrary: queryOf(document, operation.parameters, pool) },
        ...(operation.id === 'verifySignupByGet' ? [pooledCode(pool).map((pair) => String(new URLSearchParams({ ...pair })))] : []),
      ),
      body: bodyOf(document, operation, pool),
      headers: headersOf(operation, pool),
    })
    .map(({ path, query, body, headers }) => ({ operation, target: query === '' ? path : `${path}?${query}`, headers, body }));
}
