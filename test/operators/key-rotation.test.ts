import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { serviceAuth, serviceTokens } from '@bubbles/auth/service-tokens.ts';
import { readConfig } from '@bubbles/kernel/config.ts';
import { callerKeys, sealKeys, signingKey } from '@bubbles/kernel/config-values.ts';
import { CURSOR_VARIABLES, cursorsWith } from '@bubbles/kernel/cursors.ts';
import { createSeal } from '@bubbles/kernel/seal.ts';
import { fakeClock } from '@bubbles/testing/fake-clock.ts';
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';

const REPLICAS = ['a', 'b', 'c'] as const;
const ORDERS = REPLICAS.flatMap((first) => REPLICAS.flatMap((second) => REPLICAS.map((third) => [first, second, third] as const))).filter(
  (order) => new Set(order).size === REPLICAS.length,
);

type Environment = Readonly<Record<string, string>>;

/** Rolls each step out over three replicas of a service, in every order, and calls `check` with what runs at each moment. */
const rollOut = async <P>(
  steps: readonly Environment[],
  { start, check }: { readonly start: (environment: Environment) => P; readonly check: (running: readonly P[]) => Promise<void> },
): Promise<void> => {
  for (const order of ORDERS) {
    const [first = {}, ...others] = steps;
    const running = new Map(REPLICAS.map((name) => [name, start(first)]));
    for (const step of others)
      for (const name of order) {
        running.set(name, start(step));
        await check([...running.values()]);
      }
  }
};

const pairOf = () => {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  return {
    secret: privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
    public: publicKey.export({ format: 'der', type: 'spki' }).toString('base64'),
  };
};

describe('changing the key of a service', () => {
  const [old, next, other] = [pairOf(), pairOf(), pairOf()];
  const clock = fakeClock();
  const callee = (environment: Environment) => {
    const { CALLER_KEYS: callers } = readConfig(z.object({ CALLER_KEYS: callerKeys() }), environment);
    return serviceAuth({ audience: 'identity-and-oauth', callers, clock });
  };
  const caller = (environment: Environment) => {
    const { SERVICE_KEY: key } = readConfig(z.object({ SERVICE_KEY: signingKey() }), environment);
    return serviceTokens({ caller: 'signup', key, clock });
  };
  const taking = (...keys: readonly { readonly public: string }[]) => ({
    CALLER_KEYS: [`gateway=${other.public}`, ...keys.map((key) => `signup=${key.public}`)].join(),
  });
  const [withOld, withNew] = [caller({ SERVICE_KEY: old.secret }), caller({ SERVICE_KEY: next.secret })];
  const accepts = async (callees: readonly ReturnType<typeof callee>[], callers: readonly ReturnType<typeof caller>[]) => {
    for (const one of callers)
      for (const asked of callees) expect(await asked.verify([await one.authorizationFor('identity-and-oauth')])).toBe('signup');
  };

  it('refuses no call while those that it calls learn the new one, while it changes over, and while they forget the old one', async () => {
    await rollOut([taking(old), taking(old, next)], { start: callee, check: (callees) => accepts(callees, [withOld]) });
    await rollOut([{ SERVICE_KEY: old.secret }, { SERVICE_KEY: next.secret }], {
      start: caller,
      check: (callers) => accepts([callee(taking(old, next))], callers),
    });
    const held = await withOld.authorizationFor('identity-and-oauth');
    const learned = callee(taking(old, next));
    // A token that was made at the end of the change is in nobody's hands any more.
    await clock.advance(90_000);
    await expect(learned.verify([held])).rejects.toMatchObject({ kind: 'unauthorized' });
    await rollOut([taking(old, next), taking(next)], { start: callee, check: (callees) => accepts(callees, [withNew]) });
  });

  it('refuses calls when the caller changes first, or when the old one goes too early', async () => {
    await expect(accepts([callee(taking(old))], [withNew])).rejects.toMatchObject({ kind: 'unauthorized' });
    await expect(accepts([callee(taking(next))], [withOld])).rejects.toMatchObject({ kind: 'unauthorized' });
  });
});

describe('changing the key of cursors', () => {
  const [old, next] = [randomBytes(32).toString('base64'), randomBytes(32).toString('base64')];
  const start = (environment: Environment) => {
    const { CURSOR_KEY: current, CURSOR_KEY_PREVIOUS: previous } = readConfig(z.object(CURSOR_VARIABLES), environment);
    return cursorsWith({ current, previous })<string>(1, {
      rules: [1],
      write: (text) => ({ rules: 1, bytes: Buffer.from(text) }),
      read: (bytes) => bytes.toString(),
    });
  };
  /** Whatever one replica answers, the next request with it may reach any other one. */
  const check = (running: readonly ReturnType<typeof start>[]): Promise<void> => {
    for (const one of running) for (const another of running) expect(another.decode(one.encode('here', ['ada']), ['ada'])).toBe('here');
    return Promise.resolve();
  };
  const STEPS = [
    { CURSOR_KEY: old },
    { CURSOR_KEY: old, CURSOR_KEY_PREVIOUS: next },
    { CURSOR_KEY: next, CURSOR_KEY_PREVIOUS: old },
    { CURSOR_KEY: next },
  ];

  it('refuses no cursor of any replica, nor one of the step before', async () => {
    await rollOut(STEPS, { start, check });
    for (const [n, step] of STEPS.entries()) {
      const before = STEPS[n - 1];
      if (before !== undefined && n < 3) expect(start(step).decode(start(before).encode('here', ['ada']), ['ada'])).toBe('here');
    }
  });

  it('refuses cursors when the new key signs before everybody takes it', async () => {
    const shortcut = STEPS.filter((_, n) => n !== 1);
    await expect(rollOut(shortcut, { start, check })).rejects.toMatchObject({ kind: 'invalid' });
  });
});

describe('changing the seal keys', () => {
  const [old, next] = [`k1=${randomBytes(32).toString('base64')}`, `k2=${randomBytes(32).toString('base64')}`];
  const start = (environment: Environment) =>
    createSeal(readConfig(z.object({ SEAL_KEYS: sealKeys() }), environment).SEAL_KEYS, randomBytes);
  const check = (running: readonly ReturnType<typeof start>[]): Promise<void> => {
    for (const one of running)
      for (const another of running) expect(another.unseal(one.seal(Buffer.from('secret'), 'name'), 'name').toString()).toBe('secret');
    return Promise.resolve();
  };
  const STEPS = [old, `${old},${next}`, `${next},${old}`, next].map((SEAL_KEYS) => ({ SEAL_KEYS }));

  it('leaves every replica able to open what any other one has sealed', async () => {
    await expect(rollOut(STEPS, { start, check })).resolves.toBeUndefined();
  });

  it('does not when the new key seals before everybody has it', async () => {
    await expect(rollOut([STEPS[0] ?? {}, STEPS[2] ?? {}], { start, check })).rejects.toThrow('SEAL_KEYS');
  });
});
