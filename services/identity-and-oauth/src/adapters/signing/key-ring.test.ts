import { randomBytes } from 'node:crypto';
import { systemIds } from '@bubbles/kernel/ids.ts';
import { createSeal } from '@bubbles/kernel/seal.ts';
import { type FakeClock, fakeClock } from '@bubbles/testing/fake-clock.ts';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { fakeSigningKeyStore } from '../../../test/fakes.ts';
import type { Ed25519Key, P256Key, SealedKey, SigningKeyStore } from '../../ports.ts';
import { createKeyRing, ED25519, ES256 } from './key-ring.ts';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const masterKey = { id: 'k1', key: randomBytes(32) };

const ALGORITHMS = [
  { name: 'Ed25519', algorithm: ED25519, members: ['crv', 'kid', 'kty', 'x'] },
  { name: 'ES256', algorithm: ES256, members: ['crv', 'kid', 'kty', 'x', 'y'] },
] as const;

describe.each(ALGORITHMS)('key ring of $name', ({ algorithm, members }) => {
  type Key = Ed25519Key | P256Key;
  let keys: SigningKeyStore<Key>;
  let clock: FakeClock;
  beforeEach(() => {
    keys = fakeSigningKeyStore();
    clock = fakeClock();
  });
  const options = () => ({
    keys,
    algorithm,
    keepAfterMs: 2 * HOUR_MS,
    seal: createSeal([masterKey], randomBytes),
    clock,
    ids: systemIds(),
  });
  const replica = () => createKeyRing<Key>(options());
  const kids = async () => (await replica().published()).map(({ kid }) => kid);

  it('replicas that begin on an empty store at the same time sign with one key', async () => {
    const signing = await Promise.all(Array.from({ length: 5 }, () => replica().current()));
    expect(new Set(signing.map(({ kid }) => kid)).size).toBe(1);
    expect(await kids()).toEqual([signing[0]?.kid]);
  });

  it('signs at once although the clock runs on while the key is made, and on a replica whose clock is behind', async () => {
    let reads = 0;
    const running = { ...clock, now: () => new Date(clock.now().getTime() + reads++) };
    const first = await createKeyRing<Key>({ ...options(), clock: running }).current();
    const behind = { ...clock, now: () => new Date(clock.now().getTime() - 5000) };
    expect((await createKeyRing<Key>({ ...options(), clock: behind }).current()).kid).toBe(first.kid);
  });

  it('[case 87] shows the successor a day before it signs and the old one two hours after', async () => {
    const ring = replica();
    const first = await ring.current();
    await clock.advance(29 * DAY_MS);
    await replica().rotate();
    const shown = await kids();
    expect(shown).toHaveLength(2);
    expect((await ring.current()).kid).toBe(first.kid);

    await clock.advance(DAY_MS);
    const second = await ring.current();
    expect(second.kid).toBe(shown[1]);
    expect(await kids()).toEqual(shown);

    await clock.advance(2 * HOUR_MS);
    expect(await kids()).toEqual([second.kid]);
    await ring.rotate();
    expect((await keys.all()).map(({ kid }) => kid)).toEqual([second.kid]);
  });

  it('rotating twice makes one successor', async () => {
    await replica().current();
    await clock.advance(29 * DAY_MS);
    await Promise.all([replica().rotate(), replica().rotate()]);
    expect(await kids()).toHaveLength(2);
  });

  it('a replica that slept through the end makes a key on the spot', async () => {
    const ring = replica();
    const first = await ring.current();
    await clock.advance(100 * DAY_MS);
    const next = await ring.current();
    expect(next.kid).not.toBe(first.kid);
    expect(await kids()).toContain(next.kid);
  });

  it('is refused at the start when the key that signs next was sealed with a master key that is not there', async () => {
    const another = { id: 'k2', key: randomBytes(32) };
    const under = (...list: readonly (typeof masterKey)[]) => createKeyRing<Key>({ ...options(), seal: createSeal(list, randomBytes) });
    await under(masterKey).current();
    await clock.advance(29 * DAY_MS);
    await under(another, masterKey).rotate();
    await under(another, masterKey).check();
    await expect(under(masterKey).check()).rejects.toThrow('SEAL_KEYS: what is stored was sealed with the key k2, which is not among them');
    await clock.advance(2 * DAY_MS);
    await under(another).check();
  });

  it('reads the store once at a time for all who ask for its keys', async () => {
    let reading = 0;
    let most = 0;
    const counting: SigningKeyStore<Key> = {
      ...keys,
      all: async () => {
        reading += 1;
        most = Math.max(most, reading);
        const all = await keys.all();
        reading -= 1;
        return all;
      },
    };
    const ring = createKeyRing<Key>({ ...options(), keys: counting });
    const { kid } = await ring.current();
    const shown = await Promise.all(Array.from({ length: 100 }, () => ring.published()));
    expect([most, new Set(shown.flat().map((key) => key.kid))]).toEqual([1, new Set([kid])]);
  });

  /** What a restored backup does to the store. */
  const restore = async (backup: readonly SealedKey<Key>[]) => {
    await keys.deleteDue(new Date(clock.now().getTime() + 100 * DAY_MS), 0);
    for (const key of backup) await keys.insert(key);
  };

  it('[AUTH-05] a key that a restored store does not have signs for ten seconds at most, and at once no more when the keys are asked for', async () => {
    const [ring, other] = [replica(), replica()];
    const first = await ring.current();
    const backup = await keys.all();
    await clock.advance(29 * DAY_MS);
    await ring.rotate();
    await clock.advance(DAY_MS);
    const second = await ring.current();
    expect([(await other.current()).kid, second.kid === first.kid]).toEqual([second.kid, false]);
    await restore(
      backup.map((key) => ({
        ...key,
        signUntil: new Date(clock.now().getTime() + DAY_MS),
        deleteAt: new Date(clock.now().getTime() + 2 * DAY_MS),
      })),
    );
    await ring.published();
    expect([(await ring.current()).kid, (await other.current()).kid]).toEqual([first.kid, second.kid]);
    await clock.advance(10_000);
    expect((await other.current()).kid).toBe(first.kid);
  });

  it('signs on while the store is away', async () => {
    let away = false;
    const faltering: SigningKeyStore<Key> = { ...keys, all: () => (away ? Promise.reject(new Error('away')) : keys.all()) };
    const ring = createKeyRing<Key>({ ...options(), keys: faltering });
    const { kid } = await ring.current();
    away = true;
    await clock.advance(60_000);
    expect((await ring.current()).kid).toBe(kid);
    await clock.advance(30 * DAY_MS);
    await expect(ring.current()).rejects.toThrow('away');
  });

  it('[case 88] publishes public members only, and keeps no private one in the clear', async () => {
    const { key } = await replica().current();
    const { d = '' } = key.export({ format: 'jwk' });
    expect(d).toMatch(/^[\w-]{43}$/);
    for (const shown of await replica().published()) expect(Object.keys(shown).toSorted()).toEqual(members);
    expect(JSON.stringify(await keys.all())).not.toContain(d);
  });

  it('finds the public key of what another replica signs, also when it was made a moment ago, and reads the store for others only', async () => {
    const ring = replica();
    expect(await ring.find('nobody')).toBeNull();
    const { kid, key } = await replica().current();
    const found = await ring.find(kid);
    expect(found?.type).toBe('public');
    expect(found?.export({ format: 'jwk' })).toMatchObject({ x: key.export({ format: 'jwk' }).x });
    keys = fakeSigningKeyStore();
    expect(await ring.find(kid)).toBe(found);
  });

  it('[AUTH-05] a key that the store does not have any more is not found for ten seconds longer', async () => {
    const ring = replica();
    const { kid } = await ring.current();
    expect(await ring.find(kid)).not.toBeNull();
    await keys.deleteDue(new Date(clock.now().getTime() + 100 * DAY_MS), 0);
    await clock.advance(10_000);
    expect(await ring.find(kid)).toBeNull();
  });
});
