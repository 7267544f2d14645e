import { failEverywhere, falteringWorld } from '@bubbles/testing/faltering-world.ts';
import { memoryDatabase } from '@bubbles/testing/memory-database.ts';
import { afterEach, describe, expect, it } from '@jest/globals';
import { type Person, startIdentity, type TestIdentity } from './identity.ts';

const LEASES_OVER_MS = 60_000;
const NEW_KEYS = 2;
const KEPT = 'kept';
const ALL_KEYS = 10;

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

/** Somebody with a key of their own and one that is kept. */
const keyHolder = async (identity: TestIdentity, team: string) => {
  const ada = await identity.person();
  await identity.join(team, ada.id);
  const { token: kept } = (await identity.admin('POST', `accounts/${ada.id}/keys`, { name: KEPT })).body;
  await identity.settle();
  return { ada, kept };
};

type Outcome = Awaited<ReturnType<typeof atOnce>>;

const expectRevoked = async (identity: TestIdentity, { session, patId, pat }: Person, { revoked }: Outcome) => {
  if (revoked.status !== 204) expect((await identity.as(session)('DELETE', `/v1/api-keys/${patId}`)).status).toBeLessThan(500);
  expect(await works(identity, pat)).toBe('token_revoked');
};

/** Those that were made work and count, and so does nothing else; the use of the one that is kept was noted. */
const expectWhole = async (identity: TestIdentity, ada: Person, { made, usedToo }: Outcome) => {
  const tokens = made.flatMap(({ status, body }) => (status === 201 ? [body.token] : []));
  for (const token of tokens) expect(await works(identity, token)).toBe('works');
  await identity.settle();
  const keys = await keysOf(identity, ada);
  expect(keys.length).toBeGreaterThanOrEqual(tokens.length);
  if (usedToo.status === 200) expect(keys.find(({ name }: { name: string }) => name === KEPT).last_used_at).not.toBeNull();
  const statuses: number[] = [];
  for (let n = keys.length; n <= ALL_KEYS; n += 1)
    statuses.push((await identity.as(ada.session)('POST', '/v1/api-keys', { name: 'more' })).status);
  expect(statuses).toEqual([...Array.from({ length: ALL_KEYS - keys.length }, () => 201), 409]);
};

let identity: TestIdentity;
afterEach(() => identity.stop());

describe('a store that is away for one step', () => {
  it('[KEY-05] [KEY-07] while keys are made, used and revoked at once: each is whole or not there, and all goes on', async () => {
    const { database, failing } = falteringWorld();
    identity = await startIdentity({ database: database(memoryDatabase()) });
    const team = await identity.team();
    const failures = await failEverywhere(async (step) => {
      const { ada, kept } = await keyHolder(identity, team);
      const { hasFailed, outcome } = await failing(step, async () => {
        const answers = await atOnce(identity, ada, kept);
        await identity.clock.advance(LEASES_OVER_MS);
        await identity.settle();
        return answers;
      });
      for (const { status } of [outcome.revoked, outcome.used, outcome.usedToo, ...outcome.made])
        expect([200, 201, 204, 401, 500]).toContain(status);
      await expectRevoked(identity, ada, outcome);
      await expectWhole(identity, ada, outcome);
      return hasFailed;
    });
    expect(failures).toBeGreaterThan(40);
  });
});
