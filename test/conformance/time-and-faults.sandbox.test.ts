import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Answer, send } from './support/client.ts';
import { control, type Sandbox, startSandbox, worldAt } from './support/sandbox-world.ts';
import type { Person, World } from './support/world.ts';

const DAY = 86_400;
/** Half of what thirty calls cost when each waits for the check of its credential, and of what `settle` waits at most. */
const AT_ONCE_MS = 15_000;

let sandbox: Sandbox;
let world: World;
beforeAll(async () => {
  sandbox = await startSandbox();
  world = worldAt(sandbox.url, () => sandbox.stop());
});
afterAll(() => world.close());

const advance = async (seconds: number): Promise<Date> =>
  new Date((await control(sandbox.url, 'POST /clock', { advance_seconds: seconds })).now);
const service = (name: string, state: object) => control(sandbox.url, `POST /services/${name}`, state);
const read = (path: string, { pat }: Person) => send(sandbox.url, path, { as: pat });
const waitOf = ({ headers }: Answer): number => Number(headers.get('retry-after'));
/** Real time goes on while a test runs: up to this many seconds, less what has passed since then. */
const nearly = (seconds: number, since: number) => ({
  asymmetricMatch: (wait: unknown) =>
    Number.isInteger(wait) && Number(wait) <= seconds && Number(wait) >= Math.floor(seconds - (performance.now() - since) / 1000),
});
/** So much of a wait is left that the next request comes before its end, on a slow machine too. */
const LEFT_SECONDS = 20;
const fill = (person: Person, count: number) => Promise.all(Array.from({ length: count }, () => read('/v1/me', person)));

describe('section 8, the request rate by the clock', () => {
  it('[RATE-01] [RATE-02] waiting Retry-After is enough, and a second less is not', async () => {
    const person = await world.user();
    const began = performance.now();
    await fill(person, 120);
    const refused = await read('/v1/me', person);
    expect([refused.status, waitOf(refused)]).toEqual([429, nearly(60, began)]);
    await advance(waitOf(refused) - LEFT_SECONDS);
    const still = await read('/v1/bubbles', person);
    expect([still.status, waitOf(still)]).toEqual([429, nearly(LEFT_SECONDS, began)]);
    await advance(waitOf(still));
    expect((await read('/v1/bubbles', person)).status).toBe(200);
  });

  it('[RATE-01] every span of a minute holds 120, not every minute of the clock', async () => {
    const person = await world.user();
    const began = performance.now();
    await fill(person, 60);
    await advance(40);
    await fill(person, 60);
    expect(waitOf(await read('/v1/me', person))).toEqual(nearly(20, began));
    await advance(20);
    const answers = await fill(person, 100);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(60);
    expect(answers.filter(({ status }) => status === 429).map(waitOf)).toContainEqual(nearly(40, began));
  });

  it('[RATE-04] a refusal does not lengthen the wait', async () => {
    const person = await world.user();
    await fill(person, 120);
    await advance(30);
    await fill(person, 50);
    await advance(30);
    expect((await read('/v1/me', person)).status).toBe(200);
  });

  it('[RATE-02] a restart of a service that counts admits at most one more window', async () => {
    const person = await world.user();
    await fill(person, 120);
    await service('identity-and-oauth', { state: 'down' });
    await service('identity-and-oauth', { state: 'up' });
    const again = await fill(person, 130);
    expect(again.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(120);
    await service('bubbles-query', { state: 'down' });
    await service('bubbles-query', { state: 'up' });
    expect((await read('/v1/bubbles', person)).status).toBe(429);
  });
});

describe('what the clock brings', () => {
  it('[BUB-08] [LIST-02] a bubble is hidden from the instant that it expires', async () => {
    const person = await world.user();
    const now = new Date((await control(sandbox.url, 'GET /clock')).now);
    const expires_at = new Date(now.getTime() + 100_000).toISOString();
    const { id } = await world.bubble({ type: 'custom_image', title: 'Quokka', participant_ids: [person.id], is_public: true, expires_at });
    const seen = async () => {
      const [list, search] = [await read('/v1/bubbles', person), await read('/v1/bubbles/search?q=quokka', person)];
      return [(await read(`/v1/bubbles/${id}`, person)).status, list.json.data.length, search.json.data.length];
    };
    await advance(90);
    expect(await seen()).toEqual([200, 1, 1]);
    await advance(10);
    expect(await seen()).toEqual([404, 0, 0]);
    await advance(2 * DAY);
    await world.changeBubble(id, { expires_at: null });
    expect(await seen()).toEqual([200, 1, 1]);
  });

  it('[AUTH-10] the session lives 14 days; a personal access token lives on', async () => {
    const person = await world.user();
    const sessionStatus = async () => (await send(sandbox.url, '/v1/api-keys', { as: person.session_token })).status;
    await advance(14 * DAY - 60);
    expect(await sessionStatus()).toBe(200);
    await advance(60);
    expect(await sessionStatus()).toBe(401);
    await advance(400 * DAY);
    expect((await read('/v1/me', person)).status).toBe(200);
  });

  it('[KEY-09] last_used_at follows use within a minute', async () => {
    const person = await world.user();
    const lastUsed = async () => (await send(sandbox.url, '/v1/api-keys', { as: person.session_token })).json.data[0].last_used_at;
    expect(await lastUsed()).toBeNull();
    const before = await advance(0);
    await read('/v1/me', person);
    const after = await advance(60);
    const at = new Date(await lastUsed());
    expect(at.getTime()).toBeGreaterThanOrEqual(before.getTime());
    expect(at.getTime()).toBeLessThan(after.getTime() - 58_000);
  });

  it('[AUTH-10] it runs on with real time from where it was moved to, in large steps too', async () => {
    const began = performance.now();
    const from = await advance(0);
    const to = await advance(365 * DAY);
    expect(to.getTime() - from.getTime()).toBeGreaterThanOrEqual(365 * DAY * 1000);
    const later = new Date((await control(sandbox.url, 'GET /clock')).now);
    const passedMs = performance.now() - began;
    expect(later.getTime() - from.getTime()).toBeGreaterThanOrEqual(to.getTime() - from.getTime());
    expect(later.getTime() - from.getTime()).toBeLessThan(365 * DAY * 1000 + passedMs + 1000);
  });
});

describe('section 7, when a service cannot be asked', () => {
  const CALLS = { 'identity-and-oauth': '/v1/me', 'bubbles-query': '/v1/bubbles', 'webhooks-dispatcher': '/v1/webhooks' } as const;
  const names = Object.keys(CALLS) as (keyof typeof CALLS)[]; // The names it was written with.
  const isFault = ({ status, headers, json, text }: Answer) => {
    expect([status, Object.keys(json), json.error.type]).toEqual([500, ['error'], 'internal_error']);
    expect(headers.get('retry-after')).toMatch(/^[1-9]\d?$/);
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(text).not.toMatch(/127\.0\.0\.1|localhost|ECONN|socket|stack| at |identity|bubbles-query|dispatcher/i);
  };

  it.each(names)('[ERR-05] [ERR-07] %s is down: 500 with Retry-After at once; the others serve on; back again, it serves', async (name) => {
    const person = await world.user();
    await service(name, { state: 'down' });
    const startedAt = Date.now();
    for (let n = 0; n < 30; n++) isFault(await read(CALLS[name], person));
    expect(Date.now() - startedAt).toBeLessThan(AT_ONCE_MS);
    const others = await Promise.all(names.filter((other) => other !== name).map((other) => read(CALLS[other], person)));
    for (const answer of others)
      if (name === 'identity-and-oauth') isFault(answer);
      else expect([200, 403]).toContain(answer.status);
    expect((await send(sandbox.url, '/v1/openapi.json')).status).toBe(200);
    expect((await read('/v1/nothing', person)).status).toBe(404);
    await service(name, { state: 'up' });
    expect([200, 403]).toContain((await read(CALLS[name], person)).status);
  });

  it('[ERR-05] [AUTH-05] a closed account stays closed while identity is down: nothing is served', async () => {
    const person = await world.user();
    await world.setState(person.id, 'disabled');
    await service('identity-and-oauth', { state: 'down' });
    isFault(await read('/v1/bubbles', person));
    await service('identity-and-oauth', { state: 'up' });
    expect((await read('/v1/bubbles', person)).json.error.type).toBe('account_deleted');
  });

  it('[ERR-05] a slow service is waited for; when it is too slow for the check of credentials, that is a fault', async () => {
    const person = await world.user();
    await service('bubbles-query', { state: 'slow', ms: 300 });
    const startedAt = Date.now();
    expect((await read('/v1/bubbles', person)).status).toBe(200);
    expect(Date.now() - startedAt).toBeGreaterThanOrEqual(299);
    await service('bubbles-query', { state: 'up' });
    await service('identity-and-oauth', { state: 'slow', ms: 1500 });
    isFault(await read('/v1/bubbles', person));
    await service('identity-and-oauth', { state: 'up' });
    expect((await read('/v1/bubbles', person)).status).toBe(200);
  });

  it('[ERR-05] control calls answer at once when what they need is down, and what they did is there afterwards', async () => {
    const person = await world.user();
    await service('bubbles-query', { state: 'down' });
    const startedAt = Date.now();
    const { id } = await world.bubble({ type: 'custom_image', participant_ids: [person.id] });
    await world.comment(id, { author_id: person.id, body: 'x' });
    await world.changeUser(person.id, { name: 'Renamed' });
    expect(await control(sandbox.url, 'POST /settle')).toEqual({ settled: true });
    await advance(3600);
    expect(Date.now() - startedAt).toBeLessThan(AT_ONCE_MS);
    await service('bubbles-query', { state: 'up' });
    expect((await read(`/v1/bubbles/${id}`, person)).json).toMatchObject({ author: { name: 'Renamed' }, comment_count: 1 });
    await service('identity-and-oauth', { state: 'down' });
    await expect(world.user()).rejects.toThrow('500');
    await service('identity-and-oauth', { state: 'up' });
  });
});
