import { generateKeyPairSync } from 'node:crypto';
import { AssertionKeySet } from '@bubbles/contracts/internal/identity.ts';
import { fakeClock } from '@bubbles/testing/fake-clock.ts';
import { describe, expect, it } from '@jest/globals';
import { createAssertionKeys } from './assertions.ts';

const jwk = (kid: string) => ({ ...generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' }), kid });
const setOf = (...kids: readonly string[]) => AssertionKeySet.parse({ keys: kids.map(jwk) });

const arranged = () => {
  const clock = fakeClock();
  const state = { set: setOf('k1'), down: false, asked: 0 };
  const fetchKeys = () => {
    state.asked += 1;
    return state.down ? Promise.reject(new Error('connect ECONNREFUSED')) : Promise.resolve(state.set);
  };
  return { clock, state, keys: createAssertionKeys({ fetchKeys, clock }) };
};

describe('the keys of identity', () => {
  it('are asked for once, by however many at a time', async () => {
    const { keys, state } = arranged();
    const found = await Promise.all(Array.from({ length: 50 }, () => keys.find('k1')));
    expect(found.every((key) => key?.asymmetricKeyType === 'ed25519')).toBe(true);
    await keys.find('k1');
    expect(state.asked).toBe(1);
  });

  it('an unknown one asks again, at most once in ten seconds', async () => {
    const { keys, state, clock } = arranged();
    await keys.find('k1');
    state.set = setOf('k1', 'k2');
    for (let attempt = 0; attempt < 50; attempt += 1) expect(await keys.find(`made-up-${attempt}`)).toBeNull();
    expect(await keys.find('k2')).toBeNull();
    expect(state.asked).toBe(1);
    await clock.advance(10_000);
    expect(await keys.find('k2')).not.toBeNull();
    expect(state.asked).toBe(2);
  });

  it('a key that identity withdrew is gone after ten minutes', async () => {
    const { keys, state, clock } = arranged();
    await keys.find('k1');
    state.set = setOf('k2');
    await clock.advance(599_000);
    expect(await keys.find('k1')).not.toBeNull();
    await clock.advance(1000);
    expect(await keys.find('k1')).toBeNull();
  });

  it('one that is shown no more is believed for its ten minutes also when another was asked for: a replica may still sign with it', async () => {
    const { keys, state, clock } = arranged();
    await keys.find('k1');
    await clock.advance(595_000);
    state.set = setOf('k2');
    expect(await keys.find('k2')).not.toBeNull();
    await clock.advance(4999);
    expect(await keys.find('k1')).not.toBeNull();
    await clock.advance(1);
    expect(await keys.find('k1')).toBeNull();
  });

  it('[ERR-05] while identity is away, known keys serve on and unknown ones cannot be judged', async () => {
    const { keys, state, clock } = arranged();
    await keys.find('k1');
    state.down = true;
    await clock.advance(3_600_000);
    expect(await keys.find('k1')).not.toBeNull();
    await clock.advance(1000);
    await expect(keys.find('k2')).rejects.toMatchObject({ kind: 'unavailable' });
    await clock.advance(500);
    await expect(keys.find('k2')).rejects.toMatchObject({ kind: 'unavailable' });
    expect([await keys.find('k1'), state.asked]).toEqual([expect.anything(), 3]);
    state.down = false;
    await clock.advance(500);
    expect(await keys.find('k2')).toBeNull();
  });

  it('[ERR-05] a start without identity is repaired within a second of its return', async () => {
    const { keys, state, clock } = arranged();
    state.down = true;
    await expect(keys.find('k1')).rejects.toMatchObject({ kind: 'unavailable' });
    await expect(keys.find('k1')).rejects.toMatchObject({ kind: 'unavailable' });
    expect(state.asked).toBe(1);
    state.down = false;
    await clock.advance(1000);
    expect(await keys.find('k1')).not.toBeNull();
  });
});
