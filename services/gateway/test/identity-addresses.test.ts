import { serviceTokens } from '@bubbles/auth/service-tokens.ts';
import { startSpan } from '@bubbles/kernel/trace.ts';
import { fakeClock } from '@bubbles/testing/fake-clock.ts';
import { rawConnection } from '@bubbles/testing/raw-http.ts';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createIdentityChecks, type IdentityChecks } from '../src/admission/identity-checks.ts';
import { Address, POOL_LIMITS } from '../src/upstream/address.ts';
import { allowed, type FakeIdentity, IDENTITY_FRAGMENT, Overloaded, serviceKey, startFakeIdentity } from './fake-services.ts';
import { startWorld, type World } from './start.ts';

const FAILURES_TO_OPEN = 10;
/** An idle connection ends by itself then. */
const KEPT_IDLE_MS = 20_000;
const CHECK = { h: 'a'.repeat(64), jwt: null, aud: 'bubbles-query', accepts: ['pat' as const] };

/** Replicas come and go under their addresses, which are given to others again. */
describe('an address of identity that is gone', () => {
  const clock = fakeClock();
  let identity: FakeIdentity;
  let checks: IdentityChecks;
  const opened: Address[] = [];
  const anAddress = (): Address => {
    const address = new Address(identity.url, clock, POOL_LIMITS);
    opened.push(address);
    return address;
  };
  const outcomeAt = async (address: Address) => {
    const request = { caller: 'somebody', requestId: 'req-12345678', span: startSpan(), checkedInTrace: null };
    return (await checks.check(CHECK, request, [address])).outcome;
  };

  beforeEach(async () => {
    identity = await startFakeIdentity(IDENTITY_FRAGMENT);
    checks = createIdentityChecks({
      tokens: serviceTokens({ caller: 'gateway', key: serviceKey(), clock }),
      clock,
      deadlineMs: 1000,
      perCall: { observe: () => undefined },
    });
  });
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((address) => address.close()));
    await checks.close();
    await identity.stop();
  });

  it(
    '[ERR-05] keeps no connection',
    async () => {
      const address = anAddress();
      expect([await outcomeAt(address), identity.sockets.size]).toEqual(['allowed', 1]);
      await address.close();
      while (identity.sockets.size > 0) await new Promise(setImmediate);
    },
    KEPT_IDLE_MS / 2,
  );

  it('[ERR-05] holds nothing against the replica that has it next', async () => {
    const gone = anAddress();
    expect(await outcomeAt(gone)).toBe('allowed');
    for (let n = 0; n < FAILURES_TO_OPEN; n += 1) gone.record('failed');
    expect(await outcomeAt(gone)).toBe('unanswered');
    const next = anAddress();
    expect(await outcomeAt(next)).toBe('allowed');
    await gone.close();
    expect(await outcomeAt(next)).toBe('allowed');
  });
});

describe('an identity that answers, and not with what it was asked for', () => {
  let world: World;
  beforeEach(async () => {
    world = await startWorld();
  });
  afterEach(() => world.stop());
  const ask = () => world.fetch('/v1/bubbles', { headers: { authorization: 'Bearer svc_pat_1' } });
  const shapeless = JSON.parse('{"outcome":1}');

  it.each([
    ['an error', () => Promise.reject(new Error('the store is away'))],
    ['something unknown', () => Promise.resolve(shapeless)],
  ])('[ERR-05] %s: the next check is asked all the same', async (_, decide) => {
    world.identity.decide = decide;
    for (let n = 0; n < FAILURES_TO_OPEN + 5; n += 1) {
      const { status, headers } = await ask();
      expect([status, headers.get('x-gateway-reason')]).toEqual([500, 'upstream-down']);
    }
    world.identity.decide = allowed;
    expect((await ask()).status).toBe(200);
  });

  it('[ERR-05] an overload: the client and the log are told that identity is overloaded', async () => {
    world.identity.decide = () => Promise.reject(new Overloaded());
    const { status, headers } = await ask();
    expect([status, headers.get('x-gateway-reason'), headers.get('retry-after')]).toEqual([500, 'overload', '2']);
    await world.gateway.idle();
    expect(world.log.lines.at(-1)?.fields).toMatchObject({ reason: 'overload', upstream: 'identity-and-oauth' });
  });
});

/** A frozen process keeps its sockets open and says nothing. */
describe('a silent or faulty replica of identity', () => {
  let replicas: readonly [FakeIdentity, FakeIdentity];
  let world: World;
  beforeEach(async () => {
    replicas = [await startFakeIdentity(IDENTITY_FRAGMENT), await startFakeIdentity(IDENTITY_FRAGMENT)];
    world = await startWorld({ config: { upstreams: { 'identity-and-oauth': replicas.map(({ url }) => url) } } });
  });
  afterEach(async () => {
    await world.stop();
    await Promise.all(replicas.map((replica) => replica.stop()));
  });
  const asked = () => replicas.map(({ checkCalls }) => checkCalls.length);
  const ask = async (path: string, token: string) => {
    const began = performance.now();
    const { status } = await world.fetch(path, { headers: { authorization: `Bearer ${token}` } });
    return { status, ms: performance.now() - began };
  };
  /** A credential that the first replica counts. */
  const countedByFirst = async (): Promise<string> => {
    for (let n = 0; ; n += 1) {
      const [before] = asked();
      await ask('/v1/bubbles', `svc_pat_${n}`);
      if (asked()[0] !== before) return `svc_pat_${n}`;
    }
  };

  it('[ERR-05] a check goes to the other replica after 300 ms, and the next ones go there at once', async () => {
    const token = await countedByFirst();
    replicas[0].decide = () => new Promise(() => undefined);
    const first = await ask('/v1/bubbles', token);
    expect(first).toMatchObject({ status: 200 });
    expect(first.ms).toBeGreaterThanOrEqual(290);
    const [silent] = asked();
    for (let n = 0; n < 5; n += 1) expect(await ask('/v1/bubbles', token)).toMatchObject({ status: 200 });
    expect(asked()[0]).toBe(silent);
  });

  it('[ERR-05] a check goes to the other replica each time that the first one answers a 500', async () => {
    const token = await countedByFirst();
    replicas[0].decide = () => Promise.reject(new Error('its store is away'));
    for (let n = 0; n < FAILURES_TO_OPEN + 2; n += 1) expect(await ask('/v1/bubbles', token)).toMatchObject({ status: 200 });
  });

  it('[ERR-05] a GET of a route of identity goes to the other replica too, once', async () => {
    const token = await countedByFirst();
    replicas[0].handle = () => undefined;
    expect(await ask('/v1/me', token)).toMatchObject({ status: 200 });
    expect(replicas.map(({ seen }) => seen.length)).toEqual([1, 1]);
  });

  it('[RATE-02] a route of identity goes to the other replica after that was told what was counted', async () => {
    const token = await countedByFirst();
    const headers = { 'ratelimit-policy': '"default";q=120;w=60', ratelimit: '"default";r=20;t=50' };
    replicas[0].handle = (_, res) => void res.writeHead(200, headers).end('{}');
    await ask('/v1/me', token);
    await replicas[0].stop();
    const before = asked()[1];
    expect(await ask('/v1/me', token)).toMatchObject({ status: 200 });
    const [check] = replicas[1].checkCalls[before ?? 0] ?? [];
    expect(check).toMatchObject({ uncounted: true, counted_elsewhere: { requests: 100 } });
  });

  it('[ERR-05] a client that leaves while the other replica is told is not waited for', async () => {
    const token = await countedByFirst();
    const [told, answer] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    replicas[1].decide = async (check) => {
      told.resolve();
      await answer.promise;
      return allowed(check);
    };
    await replicas[0].stop();
    const leaving = rawConnection(world.url);
    leaving.write(`GET /v1/me HTTP/1.1\r\nHost: api.test\r\nAuthorization: Bearer ${token}\r\n\r\n`);
    await told.promise;
    leaving.socket.resetAndDestroy();
    await world.gateway.idle();
    answer.resolve();
    expect(await ask('/v1/me', token)).toMatchObject({ status: 200 });
    expect(replicas[1].seen.length).toBe(1);
  });

  it('[RATE-02] the other replica is told what was counted, until it has counted itself', async () => {
    const token = await countedByFirst();
    replicas[0].decide = (check) => ({ ...allowed(check), remaining: 20, reset_seconds: 50 });
    await ask('/v1/bubbles', token);
    await replicas[0].stop();
    await ask('/v1/bubbles', token);
    await ask('/v1/bubbles', token);
    const [first, second] = replicas[1].checkCalls.slice(-2).map(([check]) => check?.counted_elsewhere);
    expect([first?.requests, second]).toEqual([100, undefined]);
    expect(first?.first_ms_ago).toBeGreaterThanOrEqual(10_000);
    expect(first?.last_ms_ago).toBeLessThan(5000);
  });
});

describe('the routes of identity itself', () => {
  let world: World;
  beforeEach(async () => {
    world = await startWorld();
  });
  afterEach(() => world.stop());
  const me = (token: string) => world.fetch('/v1/me', { headers: { authorization: `Bearer ${token}` } });

  it('[GEN-14] [AUTH-01] garbage never gets there; what was good goes there at once', async () => {
    world.identity.decide = (check) => ({ h: check.h, outcome: 'refused', type: 'unauthorized' });
    const refused = await Promise.all(Array.from({ length: 400 }, (_, n) => me(`svc_pat_${n}`)));
    expect(new Set(refused.map(({ status }) => status))).toEqual(new Set([401]));
    expect(world.identity.seen).toEqual([]);
    const calls = world.identity.checkCalls.length;
    world.identity.decide = (check) => (check.uncounted ? allowed(check) : { h: check.h, outcome: 'refused', type: 'unauthorized' });
    for (let n = 0; n < 3; n += 1) expect((await me('svc_pat_good')).status).toBe(200);
    expect([world.identity.seen.length, world.identity.checkCalls.length - calls]).toEqual([3, 1]);
  });

  it('[AUTH-04] one that they refuse is asked about when it comes again', async () => {
    await me('svc_pat_good');
    world.identity.handle = (_, res) => void res.writeHead(401).end('{}');
    world.identity.decide = ({ h }) => ({ h, outcome: 'refused', type: 'token_revoked' });
    const answers = [await me('svc_pat_good'), await me('svc_pat_good')];
    expect(await answers[1]?.json()).toMatchObject({ error: { type: 'token_revoked' } });
    expect(world.identity.seen.length).toBe(2);
  });
});
