import type { Collection, Database, Doc } from '@bubbles/shared/store/collection.ts';
import { storeUnavailable } from '@bubbles/shared/store/store-errors.ts';
import { type CrashPoints, crashPoints, faultPoints } from '@bubbles/shared/testing/crash-points.ts';
import { describe, expect, it } from '@jest/globals';
import { type Answer, type Person, startIdentity, type TestIdentity } from './identity.ts';
import { memoryDatabase } from './stores.ts';

/** More than the flow has. */
const MOST_STEPS = 200;
const LEASES_OVER_MS = 60_000;
const NEW_KEYS = 4;
const KEPT = 'kept';
const ALL_KEYS = 10;
const STORE_STEPS = [
  'findOne',
  'find',
  'insert',
  'updateOne',
  'updateMany',
  'findOneAndUpdate',
  'deleteOne',
  'deleteMany',
  'count',
] as const;

/** The same data as `database`, whose steps are counted by what is set last. */
const watched = (database: Database) => {
  let points: CrashPoints = crashPoints();
  return {
    watchBy(next: CrashPoints) {
      points = next;
    },
    database: {
      ...database,
      collection: <T extends Doc>(name: string): Collection<T> =>
        new Proxy(database.collection<T>(name), { get: (target, method) => Reflect.get(points.watch(target, STORE_STEPS), method) }),
    },
  };
};

const works = async (identity: TestIdentity, token: string) => (await identity.as(token)('GET', '/v1/me')).body.error?.type ?? 'works';
const keysOf = async (identity: TestIdentity, { session }: Person) => (await identity.as(session)('GET', '/v1/api-keys')).body.data;

/** Keys are made, used and revoked at the same time. */
const atOnce = async (identity: TestIdentity, { session, patId, pat }: Person, kept: string) => {
  const call = identity.as(session);
  const [revoked, used, usedToo, ...made] = await Promise.all([
    call('DELETE', `/v1/api-keys/${patId}`),
    identity.as(pat)('GET', '/v1/me'),
    identity.as(kept)('GET', '/v1/me'),
    ...Array.from({ length: NEW_KEYS }, (_, n) => call('POST', '/v1/api-keys', { name: `k${n}` })),
  ]);
  return { revoked, used, usedToo, made };
};

const expectWhole = async (identity: TestIdentity, ada: Person, made: readonly Answer[]) => {
  const tokens = made.flatMap(({ status, body }) => (status === 201 ? [body.token] : []));
  for (const token of tokens) expect(await works(identity, token)).toBe('works');
  const before = await keysOf(identity, ada);
  expect(before.length).toBeGreaterThanOrEqual(tokens.length);
  for (let n = before.length; n < ALL_KEYS; n += 1)
    expect((await identity.as(ada.session)('POST', '/v1/api-keys', { name: 'more' })).status).toBe(201);
  expect((await identity.as(ada.session)('POST', '/v1/api-keys', { name: 'too many' })).status).toBe(409);
};

/** Whether it came to that. */
const failedAt = async (step: number): Promise<boolean> => {
  const { database, watchBy } = watched(memoryDatabase());
  const identity = await startIdentity({ database });
  const ada = await identity.person();
  await identity.join(await identity.team(), ada.id);
  const { token: kept } = (await identity.admin('POST', `accounts/${ada.id}/keys`, { name: KEPT })).body;
  await identity.settle();
  const fault = faultPoints(step, () => storeUnavailable(new Error('away')));
  watchBy(fault);
  const { revoked, used, usedToo, made } = await atOnce(identity, ada, kept);
  await identity.clock.advance(LEASES_OVER_MS);
  await identity.settle();
  const hasFailed = fault.steps() >= step;
  watchBy(crashPoints());
  for (const { status } of [revoked, used, usedToo, ...made]) expect([200, 201, 204, 401, 500]).toContain(status);
  if (revoked.status === 204) expect(await works(identity, ada.pat)).toBe('token_revoked');
  else expect((await identity.as(ada.session)('DELETE', `/v1/api-keys/${ada.patId}`)).status).toBeLessThan(500);
  expect(await works(identity, ada.pat)).toBe('token_revoked');
  await expectWhole(identity, ada, made);
  await identity.settle();
  const { last_used_at: usedAt } = (await keysOf(identity, ada)).find(({ name }: { name: string }) => name === KEPT);
  if (usedToo.status === 200) expect(usedAt).not.toBeNull();
  await identity.stop();
  return hasFailed;
};

describe('a store that is away for one step', () => {
  it('[KEY-05] [KEY-07] while keys are made, used and revoked at once: each is whole or not there, and all goes on', async () => {
    let step = 1;
    while (step < MOST_STEPS && (await failedAt(step))) step += 1;
    expect(step).toBeGreaterThan(20);
    expect(step).toBeLessThan(MOST_STEPS);
  });
});
