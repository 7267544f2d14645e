import { rawExchange } from '@bubbles/testing/raw-http.ts';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type Call, send } from '../conformance/support/client.ts';
import { type Receiver, startReceiver } from '../conformance/support/receiver.ts';
import { control, type Sandbox, startSandbox, worldAt } from '../conformance/support/sandbox-world.ts';
import { secretsIn } from '../conformance/support/security/logs.ts';
import type { OAuthScene, Person, World } from '../conformance/support/world.ts';
import { asked, type Exchanged, exchanger } from './exchange.ts';
import { isJson, type Json, schemaFaultsIn } from './json-schema.ts';
import { type Operation, operationsOf } from './operations.ts';
import { CALLBACK, type FuzzRequest, MEETINGS, type Pool, requestsOf } from './requests.ts';
import { signUp } from './signups.ts';

/** The long run is `FUZZ_RUNS=10000`, the same run again `FUZZ_SEED=<seed that was shown>`. */
const RUNS = Number(process.env['FUZZ_RUNS'] ?? 1500);
/** For an operation that chance has left out: one request in fifty does what it is for. */
const MOST_MORE = 2000;
const RAW_RUNS = Math.ceil(RUNS / 5);
const SEED = process.env['FUZZ_SEED'] === undefined ? {} : { seed: Number(process.env['FUZZ_SEED']) };
const LIMIT_MS = 300_000 + RUNS * 60;
/** It describes itself no further than that it is one. */
const DOCUMENT = '/v1/openapi.json';
const PEOPLE = 4;
const APPS = 8;
/** Before the clock moves on, so that the budget of nobody ends the run. */
const REQUESTS_PER_MINUTE = 200;
const MINUTES_PER_CODE = 8;
/** By the type of the envelope, or the code of RFC 6749. */
const STATUS_OF: Readonly<Record<string, readonly number[]>> = {
  invalid_request: [400, 409, 413],
  invalid_client: [400, 401],
  temporarily_unavailable: [429],
  invalid_token: [401],
  invalid_grant: [400],
  invalid_scope: [400],
  invalid_target: [400],
  unauthorized_client: [400],
  unsupported_grant_type: [400],
  unsupported_token_type: [400],
  invalid_redirect_uri: [400],
  invalid_client_metadata: [400],
  unauthorized: [401],
  token_revoked: [401],
  account_deleted: [401],
  forbidden: [403],
  pro_plan_required: [403],
  not_found: [404],
  rate_limited: [429],
};

let sandbox: Sandbox;
let world: World;
let receiver: Receiver;
let document: Json;
let schemaFaults: ReturnType<typeof schemaFaultsIn>;
let pool: Pool;
beforeAll(async () => {
  sandbox = await startSandbox(['--data', ':memory:'], { LOG_LEVEL: 'debug', SIGNUP_STARTS_PER_CLIENT: '1000000' });
  world = worldAt(sandbox.url, () => sandbox.stop());
  receiver = await startReceiver();
  document = (await call(DOCUMENT)).json;
  schemaFaults = schemaFaultsIn(document);
  pool = await peopled();
  await signUp(world, pool);
});
afterAll(async () => {
  await receiver.close();
  await world.close();
});

const call = (path: string, what?: Call) => asked(() => send(sandbox.url, path, what));

/** People who pay, with bubbles, comments, subscriptions and deliveries to be asked for. */
async function peopled(): Promise<Pool> {
  const people: Person[] = [];
  for (let n = 0; n < PEOPLE; n++) people.push(await world.user());
  const members = people.map(({ id }) => ({ user_id: id, role: 'admin' }));
  const team = await world.team({ name: 'Pro', plan: 'pro', members, channels: [{ name: 'general' }] });
  const ids = {
    bubbles: [] as string[],
    webhooks: [] as string[],
    deliveries: [] as string[],
    keys: [] as string[],
    joins: [] as string[],
  };
  const [cursors, pairs] = [[] as string[], [] as string[]];
  for (const person of people) {
    const hook = { url: receiver.url, events: ['bubble.ready'] };
    ids.webhooks.push((await call('/v1/webhooks', { method: 'POST', as: person.pat, body: hook })).json.id);
    for (const meeting_url of MEETINGS) {
      const body = { meeting_url, team_id: team.id };
      ids.joins.push((await call('/v1/meetings/join', { method: 'POST', as: person.pat, body })).json.id);
    }
    const key = { method: 'POST', as: person.session_token, body: { name: 'laptop' } };
    ids.keys.push((await call('/v1/api-keys', key)).json.id);
    const participant_ids = [person.id];
    for (const type of ['meeting_recording', 'screen_recording', 'custom_image']) {
      const { id, short_id } = await world.bubble({ type, team_id: team.id, channel_id: team.channels['general'], participant_ids });
      for (let n = 0; n < 3; n++) await world.comment(id, { author_id: person.id, kind: n === 2 ? 'video' : 'text' });
      ids.bubbles.push(id, short_id);
      cursors.push((await call(`/v1/bubbles/${id}/comments?limit=1`, { as: person.pat })).json.next_cursor);
    }
    cursors.push((await call('/v1/meetings/join?limit=1', { as: person.pat })).json.next_cursor);
    for (const query of ['?limit=1', '/search?q=meeting%20notes&limit=1', '/search?q=product&limit=1']) {
      const { next_cursor } = (await call(`/v1/bubbles${query}`, { as: person.pat })).json;
      if (next_cursor !== null) cursors.push(next_cursor);
    }
    const queued = (await call(`/v1/webhooks/${ids.webhooks.at(-1)}/test`, { method: 'POST', as: person.pat })).json;
    ids.deliveries.push(queued.id);
    pairs.push(`${ids.webhooks.at(-1)}/deliveries/${queued.id}`);
  }
  const apps: OAuthScene[] = [];
  for (let n = 0; n < APPS; n++) apps.push(await world.oauthToken(people[n % PEOPLE]?.id ?? ''));
  const scope = { teams: [team.id], channels: Object.values(team.channels) };
  return {
    ids: { ...ids, ...scope },
    cursors,
    pairs,
    pats: [...people.map(({ pat }) => pat), ...apps.map(({ access_token }) => access_token)],
    sessions: people.map((one) => one.session_token),
    clients: [await registered(), await registered()],
    signups: [],
    codes: [],
    refreshes: apps.map(refreshOf),
    receiver: receiver.url,
  };
}

const refreshOf = ({ client_id, refresh_token }: Pick<OAuthScene, 'client_id' | 'refresh_token'>): string =>
  String(new URLSearchParams({ grant_type: 'refresh_token', client_id, refresh_token }));

async function registered(): Promise<string> {
  const body = { redirect_uris: [CALLBACK], token_endpoint_auth_method: 'none' };
  return (await call('/oauth/register', { method: 'POST', body })).json.client_id;
}

const parsed = (text: string): unknown => (text === '' ? null : JSON.parse(text));

/** Of a refusal in the envelope or in the form of RFC 6749. */
function typeIn(body: unknown): string {
  const error = isJson(body) ? body['error'] : null;
  return String(isJson(error) ? error['type'] : error);
}

/** What is wrong with an answer, whatever was asked. */
function faultsOf({ operation, headers }: FuzzRequest, { status, headers: answered, text }: Exchanged): string[] {
  const faults: string[] = [];
  const documented = operation.answers.get(status);
  if (documented === undefined) return [`${status} is not in the document`];
  if (!/^[A-Za-z0-9._-]{8,64}$/.test(answered['x-request-id'] ?? '')) faults.push('has no request id');
  const token = /^Bearer (svc_\S{20,})$/.exec(headers['authorization'] ?? '')?.[1];
  if (token !== undefined && text.includes(token)) faults.push('says the token again');
  if (documented === null) return text === '' ? faults : [...faults, 'has a body'];
  const sentType = answered['content-type']?.replace('; charset=utf-8', '') ?? '';
  if (![documented.mediaType, ...documented.otherTypes].includes(sentType)) faults.push(`is no ${documented.mediaType}`);
  if (documented.mediaType === 'text/html') return text.startsWith('<!doctype html>') ? faults : [...faults, 'is no page'];
  // A file of text, which its own tests read.
  if (!documented.mediaType.endsWith('json')) return faults;
  const body = parsed(text);
  if (operation.path !== DOCUMENT || status !== 200) for (const one of schemaFaults(documented.schema, body)) faults.push(one);
  const type = typeIn(body);
  if (status >= 400 && !(STATUS_OF[type ?? ''] ?? []).includes(status)) faults.push(`${status} with the type ${type}`);
  return faults;
}

/** What was made is asked for by the requests to come. */
function harvest({ operation, body }: FuzzRequest, { status, text }: Exchanged): void {
  const isMade = status === 201 || status === 202 || (status === 200 && operation.id === 'issueTokens');
  const made = isMade ? parsed(text) : null;
  if (!isJson(made)) return;
  if (operation.id === 'createWebhook') pool.ids.webhooks.push(String(made['id']));
  const client_id = new URLSearchParams(body ?? '').get('client_id') ?? '';
  if (operation.id === 'issueTokens') pool.refreshes.push(refreshOf({ client_id, refresh_token: String(made['refresh_token']) }));
  if (operation.id === 'joinMeeting') pool.ids.joins.push(String(made['id']));
  if (operation.id === 'createApiKey') pool.ids.keys.push(String(made['id']));
  if (operation.id === 'testWebhook') pool.ids.deliveries.push(String(made['id']));
}

describe('requests made of the served document', () => {
  it(
    `[ERR-01] [ERR-02] [GEN-04] [API-03] ${RUNS} of them: no fault of ours, nothing hangs, every answer is as documented`,
    async () => {
      const operations = operationsOf(document);
      const tally = new Map<string, { good: number; refused: number }>();
      const { send: exchange, close } = exchanger(sandbox.url);
      let sent = 0;
      const ask = async (what: FuzzRequest) => {
        sent += 1;
        if (sent % REQUESTS_PER_MINUTE === 0) await control(sandbox.url, 'POST /clock', { advance_seconds: 60 });
        if (sent % (MINUTES_PER_CODE * REQUESTS_PER_MINUTE) === 0) await signUp(world, pool);
        const answer = await asked(() => exchange(what));
        expect({ faults: faultsOf(what, answer), answer: answer.text.slice(0, 300) }).toMatchObject({ faults: [] });
        harvest(what, answer);
        const counted = tally.get(what.operation.id) ?? { good: 0, refused: 0 };
        tally.set(what.operation.id, {
          good: counted.good + Number(answer.status < 400),
          refused: counted.refused + Number(answer.status >= 400),
        });
      };
      const isUntried = ({ id, answers }: Operation) => {
        const { good = 0, refused = 0 } = tally.get(id) ?? {};
        return good === 0 || (answers.has(401) && refused === 0);
      };
      const requests = fc.constantFrom<Operation>(...operations).chain((operation) => requestsOf(document, operation, pool));
      await fc.assert(fc.asyncProperty(requests, ask), { numRuns: RUNS, ...SEED });
      for (const operation of operations.filter(isUntried)) {
        // What it is for may have been deleted meanwhile.
        const { signups, codes } = pool;
        pool = { ...(await peopled()), signups, codes };
        const untilTried = async (what: FuzzRequest) => (isUntried(operation) ? ask(what) : undefined);
        await fc.assert(fc.asyncProperty(requestsOf(document, operation, pool), untilTried), { numRuns: MOST_MORE, ...SEED });
      }
      close();
      expect(operations.filter(isUntried).map(({ id }) => [id, tally.get(id)])).toEqual([]);
    },
    LIMIT_MS,
  );

  it(
    `[GEN-08] [ERR-01] ${RAW_RUNS} heads of any bytes: each is answered, by nothing worse than a refusal in the envelope or as a page`,
    async () => {
      const noise = fc.string({
        unit: fc.constantFrom(...'abz09%/\\.;:?&=+[]{}"<>|^`~@!$*()_-#, \t', '%00', '%2F', '%FF', '%ZZ', '..', '\r', '\x00', '\xe9'),
        maxLength: 60,
      });
      const verb = fc.constantFrom('GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'CONNECT', 'get', 'G\x00T', '');
      const base = fc.constantFrom(
        '/',
        '/v1/me',
        '/v1/bubbles/',
        '/v1/bubbles?limit=',
        '/v1/webhooks/',
        '/docs',
        '/app/',
        '/oauth/token',
        '/_sandboxes',
        '/internal/',
        '//',
        '/.well-known/',
      );
      const name = fc.constantFrom(
        'X-A',
        'Cookie',
        'Accept',
        'Content-Length',
        'Transfer-Encoding',
        'Expect',
        'Upgrade',
        'TE',
        'Range',
        'Authorization',
        'Connection',
        'X-A ',
        '',
      );
      const heads = fc.tuple(
        verb,
        base,
        noise,
        fc.constantFrom('HTTP/1.1', 'HTTP/1.0', 'HTTP/2.0', 'HTTP/1', ''),
        fc.array(fc.tuple(name, noise), { maxLength: 4 }),
      );
      await fc.assert(
        fc.asyncProperty(heads, async ([method, path, rest, version, headers]) => {
          const lines = headers.map(([header, value]) => `${header}: ${value}`);
          const bytes = [`${method} ${path}${rest} ${version}`, 'Host: a.test', ...lines, 'Connection: close', '', ''].join('\r\n');
          const text = await rawExchange(sandbox.url, Buffer.from(bytes, 'latin1'));
          const status = Number(text.split(' ')[1]);
          expect([200, 204, 302, 303, 304, 400, 401, 404]).toContain(status);
          if (status < 400 || method === 'HEAD') return;
          const body = text.slice(text.indexOf('\r\n\r\n') + 4);
          if (text.includes('Content-Type: text/html'))
            return expect(body).toMatch(/^<!doctype html>[\s\S]*<h1>(?:Bad request|Not found)<\/h1>/);
          const type = expect.stringMatching(/^(invalid_request|invalid_client|unauthorized|not_found)$/);
          const forms = [{ error: { type, message: expect.any(String) } }, { error: type, error_description: expect.any(String) }];
          expect(forms).toContainEqual(JSON.parse(body));
        }),
        { numRuns: RAW_RUNS, ...SEED },
      );
    },
    LIMIT_MS,
  );

  it('[GEN-10] [GEN-09] nothing of it left a secret in the log, a line that is none, or a fault', async () => {
    expect((await call('/v1/me', { as: (await world.user()).pat })).status).toBe(200);
    const lines = sandbox
      .errors()
      .split('\n')
      .filter((line) => line !== '');
    expect(lines.length).toBeGreaterThan(RUNS);
    expect(secretsIn(lines)).toEqual([]);
    for (const credential of [...pool.pats, ...pool.sessions, ...pool.cursors, 'Secret42'])
      expect(sandbox.errors()).not.toContain(credential);
    expect(lines.filter((line) => JSON.parse(line).level === 'error')).toEqual([]);
  });
});
