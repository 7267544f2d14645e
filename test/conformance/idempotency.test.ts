import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Answer, send } from './support/client.ts';
import { openWorld } from './support/open-world.ts';
import type { Person, World } from './support/world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

const proUser = async (): Promise<Person> => {
  const person = await world.user();
  await world.team({ name: 'Pro', plan: 'pro', members: [{ user_id: person.id, role: 'member' }] });
  return person;
};

const SUBSCRIPTION = { url: 'https://receiver.example.com/in', events: ['bubble.ready'] };
interface Creation {
  readonly path: string;
  readonly as: (person: Person) => string;
  readonly body: object;
  readonly other: object;
}
const WEBHOOK: Creation = {
  path: '/v1/webhooks',
  as: ({ pat }) => pat,
  body: SUBSCRIPTION,
  other: { ...SUBSCRIPTION, events: ['screen_recording.ready'] },
};
const API_KEY: Creation = {
  path: '/v1/api-keys',
  as: ({ session_token }) => session_token,
  body: { name: 'ci' },
  other: { name: 'other' },
};

interface Sent {
  readonly key?: string;
  readonly body?: object;
}
const post = (person: Person, { path, as, body: usual }: Creation, { key, body = usual }: Sent = {}): Promise<Answer> =>
  send(world.baseUrl, path, { method: 'POST', as: as(person), body, headers: key === undefined ? {} : { 'Idempotency-Key': key } });
const listed = async (person: Person, { path, as }: Creation): Promise<readonly { readonly id: string }[]> =>
  (await send(world.baseUrl, path, { as: as(person) })).json.data;
const idOf = ({ json }: Answer): string => json.id;
const replayed = ({ headers }: Answer) => headers.get('idempotency-replayed');

describe.each([WEBHOOK, API_KEY])('an Idempotency-Key at POST $path', (creation) => {
  it('[GEN-13] the same request again changes nothing and gets the first answer, its secret included', async () => {
    const person = await proUser();
    const key = randomUUID();
    const before = (await listed(person, creation)).length;
    const [first, again] = [await post(person, creation, { key }), await post(person, creation, { key })];
    expect([first.status, replayed(first)]).toEqual([201, null]);
    expect([again.status, again.text, replayed(again)]).toEqual([201, first.text, 'true']);
    expect(again.headers.get('cache-control')).toBe('no-store');
    expect(again.headers.get('ratelimit')).not.toBeNull();
    expect(await listed(person, creation)).toHaveLength(before + 1);
  });

  it('[GEN-13] another body is 400 and another account is another request', async () => {
    const [person, other] = [await proUser(), await proUser()];
    const key = randomUUID();
    const first = await post(person, creation, { key });
    const refused = await post(person, creation, { key, body: creation.other });
    expect([refused.status, refused.json.error.type, replayed(refused)]).toEqual([400, 'invalid_request', null]);
    const theirs = await post(other, creation, { key, body: creation.other });
    expect([theirs.status, replayed(theirs)]).toEqual([201, null]);
    expect(idOf(theirs)).not.toBe(idOf(first));
  });

  it('[GEN-13] of ten at once one acts, and all get its answer', async () => {
    const person = await proUser();
    const key = randomUUID();
    const before = (await listed(person, creation)).length;
    const answers = await Promise.all(Array.from({ length: 10 }, () => post(person, creation, { key })));
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(answers.filter((answer) => replayed(answer) === null)).toHaveLength(1);
    expect(await listed(person, creation)).toHaveLength(before + 1);
  });

  it('[GEN-13] a refusal is not kept', async () => {
    const person = await world.user();
    const key = randomUUID();
    const refused = await post(person, creation, { key });
    expect([refused.status, refused.json.error.type]).toEqual([403, 'pro_plan_required']);
    await world.team({ name: 'Pro', plan: 'pro', members: [{ user_id: person.id, role: 'member' }] });
    const made = await post(person, creation, { key, body: creation.other });
    expect([made.status, replayed(made)]).toEqual([201, null]);
  });

  it.each(['a b', 'k'.repeat(256), ''])('[GEN-13] [ERR-08] the key %j is 400, after 401 and before 403', async (key) => {
    const person = await world.user();
    const answer = await post(person, creation, { key });
    expect([answer.status, answer.json.error.type]).toEqual([400, 'invalid_request']);
    expect(answer.json.error.message).toMatch(/^Idempotency-Key: /);
    expect((await post({ ...person, pat: 'none', session_token: 'none' }, creation, { key })).status).toBe(401);
  });

  it('[GEN-13] without a key each request acts', async () => {
    const person = await proUser();
    const answers = [await post(person, creation), await post(person, creation)];
    expect(new Set(answers.map(idOf)).size).toBe(2);
  });
});

describe('an Idempotency-Key elsewhere', () => {
  it('[GEN-13] a test is queued once for one key and one subscription', async () => {
    const person = await proUser();
    const hooks = [idOf(await post(person, WEBHOOK)), idOf(await post(person, WEBHOOK))];
    const test = (id: string | undefined) =>
      send(world.baseUrl, `/v1/webhooks/${id}/test`, { method: 'POST', as: person.pat, headers: { 'Idempotency-Key': 'one' } });
    const [first, again, other] = [await test(hooks[0]), await test(hooks[0]), await test(hooks[1])];
    expect([first.status, again.text, replayed(again)]).toEqual([202, first.text, 'true']);
    expect([other.status, replayed(other)]).toEqual([202, null]);
  });

  it('[GEN-13] [GEN-11] scripts may send it and see whether an answer was replayed', async () => {
    const { headers } = await send(world.baseUrl, '/v1/webhooks', { headers: { origin: 'https://a.test' } });
    expect(headers.get('access-control-expose-headers')).toContain('Idempotency-Replayed');
    const asked = { origin: 'https://a.test', 'access-control-request-method': 'POST' };
    const preflight = await send(world.baseUrl, '/v1/webhooks', { method: 'OPTIONS', headers: asked });
    expect(preflight.headers.get('access-control-allow-headers')).toContain('Idempotency-Key');
  });

  it('[GEN-13] where nothing is created it means nothing', async () => {
    const person = await proUser();
    const answer = await send(world.baseUrl, '/v1/webhooks', { as: person.pat, headers: { 'Idempotency-Key': 'a b' } });
    expect(answer.status).toBe(200);
  });
});
