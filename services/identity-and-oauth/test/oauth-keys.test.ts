import { randomBytes } from 'node:crypto';
import { memoryDatabase } from '@bubbles/testing/memory-database.ts';
import { openTestService } from '@bubbles/testing/service-under-test.ts';
import { afterEach, describe, expect, it } from '@jest/globals';
import { identityAndOauth } from '../src/service.ts';
import { startIdentity, type TestIdentity } from './identity.ts';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

const replicas: TestIdentity[] = [];
const start = async (options?: Parameters<typeof startIdentity>[0]) => {
  const replica = await startIdentity(options);
  replicas.push(replica);
  return replica;
};
afterEach(async () => {
  await Promise.all(replicas.splice(0).map((replica) => replica.stop()));
});

const kidsAt = async (identity: TestIdentity): Promise<string[]> =>
  (await identity.as(null)('GET', '/oauth/jwks')).body.keys.map(({ kid }: { kid: string }) => kid);

describe('the public keys of access tokens', () => {
  it('[case 88] [OAUTH-09] are a JWK set that everybody may keep for five minutes, without private members', async () => {
    const identity = await start();
    const { status, headers, body } = await identity.as(null)('GET', '/oauth/jwks');
    expect([status, headers.get('content-type'), headers.get('cache-control')]).toEqual([
      200,
      'application/jwk-set+json',
      'public, max-age=300',
    ]);
    expect(body.keys).toEqual([
      { kty: 'EC', crv: 'P-256', alg: 'ES256', use: 'sig', x: expect.any(String), y: expect.any(String), kid: expect.any(String) },
    ]);
  });

  it('[case 87] [OAUTH-09] overlap: the next one is shown a day before it signs, the one before as long as its tokens live and an hour', async () => {
    const identity = await start();
    const [first] = await kidsAt(identity);
    await identity.clock.advance(29 * DAY_MS);
    await identity.runJob('rotate-access-token-keys');
    const shown = await kidsAt(identity);
    expect([shown.length, shown[0]]).toEqual([2, first]);
    await identity.clock.advance(DAY_MS + 2 * HOUR_MS - 1);
    expect(await kidsAt(identity)).toEqual(shown);
    await identity.clock.advance(1);
    expect(await kidsAt(identity)).toEqual(shown.slice(1));
  });

  it('[OAUTH-09] are one set when replicas begin on an empty store at the same time', async () => {
    const database = memoryDatabase();
    const started = await Promise.all([1, 2, 3].map(() => start({ database })));
    const sets = await Promise.all(started.map(kidsAt));
    expect(new Set(sets.map(String)).size).toBe(1);
    expect(sets[0]).toHaveLength(1);
  });

  it('open with the master key that sealed them: without it the start ends with one line that says which', async () => {
    const { database } = await start();
    const { service } = openTestService(identityAndOauth, {
      database,
      environment: { SEAL_KEYS: `k9=${randomBytes(32).toString('base64')}` },
    });
    await expect(service.start()).rejects.toThrow(
      /^bad configuration: SEAL_KEYS: what is stored was sealed with the key \w+, which is not among them$/,
    );
    await service.stop();
  });
});
