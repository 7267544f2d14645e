import { fakeClock } from '@bubbles/testing/fake-clock.ts';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { BUBBLES_FRAGMENT, type FakeService, IDENTITY_FRAGMENT, startFakeIdentity, startFakeService } from './fake-services.ts';
import { AUTHORIZATION, QUICK, startWorld, type World } from './start.ts';

let world: World;
const others: FakeService[] = [];
beforeEach(async () => {
  world = await startWorld();
});
afterEach(async () => {
  await world.stop();
  for (const other of others.splice(0)) await other.stop();
});
const until = async (holds: () => boolean): Promise<void> => {
  while (!holds()) await new Promise(setImmediate);
};

const expectUnavailable = async (response: Response, reason: string): Promise<void> => {
  expect([response.status, response.headers.get('x-gateway-reason')]).toEqual([500, reason]);
  expect(Number(response.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
  const text = await response.text();
  expect(JSON.parse(text)).toMatchObject({ error: { type: 'internal_error' } });
  expect(text).not.toMatch(/127\.0\.0\.1|ECONN|undici|stack|at /);
};

/** Two replicas, the second of which may be taken off the wire. */
const startTwoReplicas = async (): Promise<{ readonly world: World; readonly second: FakeService }> => {
  const second = await startFakeService(BUBBLES_FRAGMENT);
  const first = await startFakeService(BUBBLES_FRAGMENT);
  others.push(first, second);
  return { world: await startWorld({ config: { upstreams: { 'bubbles-query': [first.url, second.url] } } }), second };
};

const cutOff = ({ server }: FakeService): Promise<void> => {
  server.prependListener('connection', (socket) => socket.resetAndDestroy());
  server.closeAllConnections();
  return Promise.resolve();
};

describe('a service that does not answer', () => {
  it('[ERR-05] [ERR-07] is down: 500 with Retry-After for every method, at once', async () => {
    await world.bubbles.stop();
    for (const method of ['GET', 'POST'])
      await expectUnavailable(await world.fetch('/v1/bubbles/open', { method, ...(method === 'POST' && { body: '{}' }) }), 'upstream-down');
    expect(world.gateway.fragments()).toMatchObject([{ accepted: true }, { accepted: true }]);
  });

  it('[ERR-05] is slow: 500 within the time limit, its request is ended', async () => {
    const left = Promise.withResolvers<void>();
    const quick = await startWorld({ limits: QUICK });
    quick.bubbles.handle = (_, res) => void res.on('close', left.resolve);
    await expectUnavailable(await quick.fetch('/v1/bubbles/open'), 'upstream-timeout');
    await left.promise;
    expect(quick.bubbles.seen.length).toBe(1);
    await quick.stop();
  });

  it('[ERR-06] the OAuth endpoints say so in the form of RFC 6749', async () => {
    await world.identity.stop();
    const response = await world.fetch('/oauth/token', { method: 'POST', body: 'grant_type=refresh_token' });
    expect(response.status).toBe(500);
    expect(await response.json()).toEqual({ error: 'server_error', error_description: expect.any(String) });
  });

  it('[ERR-05] a 5xx without our envelope is replaced, one with it passes unchanged', async () => {
    world.bubbles.handle = (_, res) => void res.writeHead(502, { 'content-type': 'text/html' }).end('<html>nginx</html>');
    await expectUnavailable(await world.fetch('/v1/bubbles/open'), 'upstream-down');
    const body = '{"error":{"type":"internal_error","message":"Own words."}}';
    world.bubbles.handle = (_, res) => void res.writeHead(500, { 'content-type': 'application/json' }).end(body);
    const own = await world.fetch('/v1/bubbles/open');
    expect([own.status, await own.text(), own.headers.get('x-gateway-reason')]).toEqual([500, body, null]);
  });

  it('[ERR-05] errors of a service pass unchanged', async () => {
    const body = '{"error":{"type":"forbidden","message":"No."}}';
    world.bubbles.handle = (_, res) =>
      void res
        .writeHead(403, { 'content-type': 'application/json; charset=utf-8', 'www-authenticate': 'Bearer error="insufficient_scope"' })
        .end(body);
    const response = await world.fetch('/v1/bubbles/42', { headers: AUTHORIZATION });
    expect([response.status, await response.text()]).toEqual([403, body]);
    expect(response.headers.get('www-authenticate')).toBe('Bearer error="insufficient_scope"');
  });
});

describe('identity', () => {
  it('[AUTH-05] is down: nobody gets in, and nobody is told that the credential is wrong', async () => {
    await world.identity.stop();
    await expectUnavailable(await world.fetch('/v1/bubbles/42', { headers: AUTHORIZATION }), 'upstream-down');
    expect(world.bubbles.seen).toEqual([]);
    expect((await world.fetch('/v1/bubbles/open')).status).toBe(200);
    expect((await world.fetch('/v1/bubbles/42')).status).toBe(401);
  });

  it('[AUTH-05] answers in the wrong order: nobody gets in, so nobody gets in as somebody else', async () => {
    world.identity.decide = () => ({
      h: 'f'.repeat(64),
      outcome: 'allowed',
      assertion: 'of somebody else',
      limit: 120,
      remaining: 1,
      reset_seconds: 1,
    });
    await expectUnavailable(await world.fetch('/v1/bubbles/42', { headers: AUTHORIZATION }), 'upstream-down');
    expect(world.bubbles.seen).toEqual([]);
  });

  it('[RATE-02] one credential is always counted by the same replica, and by another when that one is gone', async () => {
    const replicas = [
      await startFakeIdentity(IDENTITY_FRAGMENT),
      await startFakeIdentity(IDENTITY_FRAGMENT),
      await startFakeIdentity(IDENTITY_FRAGMENT),
    ];
    const upstreams = { 'identity-and-oauth': replicas.map(({ url }) => url) };
    // On a clock that stands still nobody is silent, so that no check is asked of a second replica.
    const several = await startWorld({ config: { upstreams }, infra: { clock: fakeClock() } });
    const ask = async (token: string) => (await several.fetch('/v1/bubbles/42', { headers: { authorization: `Bearer ${token}` } })).status;
    for (let index = 0; index < 60; index += 1) await ask(`svc_pat_${index % 12}`);
    for (let index = 0; index < 12; index += 1) await several.fetch('/v1/me', { headers: { authorization: `Bearer svc_pat_${index}` } });
    const homes = replicas.map(({ checkCalls }) => new Set(checkCalls.flat().map(({ h }) => h)));
    expect(homes.reduce((sum, { size }) => sum + size, 0)).toBe(12);
    expect(replicas.reduce((sum, { seen }) => sum + seen.length, 0)).toBe(12);
    expect(replicas.map(({ seen }) => seen.length)).toEqual(homes.map(({ size }) => size));
    await replicas[0]?.stop();
    for (let index = 0; index < 12; index += 1) expect(await ask(`svc_pat_${index}`)).toBe(200);
    await several.stop();
    await Promise.all(replicas.slice(1).map((replica) => replica.stop()));
  });
});

describe('a second try', () => {
  it('[ERR-05] any request goes to the other replica when the first refuses the connection', async () => {
    const { world: two, second } = await startTwoReplicas();
    await second.stop();
    for (let index = 0; index < 12; index += 1) {
      const response = await two.fetch('/v1/bubbles/open', { method: 'POST', body: 'once' });
      expect(response.status).toBe(200);
    }
    others.splice(others.indexOf(second), 1);
    await two.stop();
  });

  it('[ERR-05] a GET goes again on a fresh connection when the kept one was just closed, a POST never', async () => {
    await (await world.fetch('/v1/bubbles/open')).text();
    let resets = 0;
    world.bubbles.handle = (req, res) => {
      if (resets > 0) return void res.end('{}');
      resets += 1;
      req.socket.resetAndDestroy();
    };
    expect((await world.fetch('/v1/bubbles/open')).status).toBe(200);
    resets = 0;
    await expectUnavailable(await world.fetch('/v1/bubbles/open', { method: 'POST', body: '{}' }), 'upstream-down');
    expect(world.bubbles.seen.filter(({ method }) => method === 'POST').length).toBe(1);
  });

  it('[SIGN-09] a GET that acts never goes again', async () => {
    world.bubbles.handle = (req) => void req.socket.resetAndDestroy();
    await expectUnavailable(await world.fetch('/v1/bubbles/act'), 'upstream-down');
    expect(world.bubbles.seen.length).toBe(1);
  });

  it('[ERR-05] a GET goes again once only', async () => {
    world.bubbles.handle = (req) => void req.socket.resetAndDestroy();
    await expectUnavailable(await world.fetch('/v1/bubbles/open'), 'upstream-down');
    expect(world.bubbles.seen.length).toBe(2);
  });
});

describe('breaker', () => {
  it('[ERR-05] ten failures in a row spare the service for two seconds; a sign of life ends the pause', async () => {
    const { handle } = world.bubbles;
    const post = () => world.fetch('/v1/bubbles/open', { method: 'POST', body: '{}' });
    world.bubbles.handle = ({ socket }) => void socket.resetAndDestroy();
    for (let index = 0; index < 10; index += 1) await expectUnavailable(await post(), 'upstream-down');
    await expectUnavailable(await post(), 'breaker');
    world.bubbles.handle = handle;
    await expectUnavailable(await post(), 'breaker');
    await world.gateway.refresh();
    expect((await post()).status).toBe(200);
  });

  it('[ERR-05] a sole replica that was away is used at once when it is back', async () => {
    const { port } = world.bubbles;
    await world.bubbles.stop();
    for (let index = 0; index < 12; index += 1) await expectUnavailable(await world.fetch('/v1/bubbles/open'), 'upstream-down');
    others.push(await startFakeService(BUBBLES_FRAGMENT, undefined, port));
    expect((await world.fetch('/v1/bubbles/open')).status).toBe(200);
  });

  it('[ERR-05] a sole replica that was silent is used at once when it answers again', async () => {
    // The time that the probe has for its answer too.
    const silent = await startWorld({ limits: { answerTimeoutMs: 3000 } });
    const held: (() => void)[] = [];
    silent.bubbles.handle = (_, res) => void held.push(() => res.end('{}'));
    const unanswered = await Promise.all([silent.fetch('/v1/bubbles/open'), silent.fetch('/v1/bubbles/open')]);
    for (const response of unanswered) await expectUnavailable(response, 'upstream-timeout');
    const probe = silent.fetch('/v1/bubbles/open');
    await until(() => held.length === 3);
    await expectUnavailable(await silent.fetch('/v1/bubbles/open'), 'breaker');
    held.at(-1)?.();
    expect((await probe).status).toBe(200);
    silent.bubbles.handle = (_, res) => void res.end('{}');
    expect((await silent.fetch('/v1/bubbles/open')).status).toBe(200);
    await silent.stop();
  });

  it.each([
    ['has gone', ({ stop }: FakeService) => stop()],
    ['resets connections that it has not accepted yet, since it stops', cutOff],
  ])('[ERR-05] a replica that was skipped by its breaker is asked all the same when the other one %s', async (_, leave) => {
    const replicas = [await startFakeService(BUBBLES_FRAGMENT), await startFakeService(BUBBLES_FRAGMENT)] as const;
    const identities = [await startFakeIdentity(IDENTITY_FRAGMENT), await startFakeIdentity(IDENTITY_FRAGMENT)] as const;
    const upstreams = { 'bubbles-query': replicas.map(({ url }) => url), 'identity-and-oauth': identities.map(({ url }) => url) };
    const several = await startWorld({ config: { upstreams } });
    const ask = async (index: number) =>
      (await several.fetch('/v1/bubbles/42', { headers: { authorization: `Bearer svc_pat_${index}` } })).status;
    await Promise.all([replicas[0].stop(), identities[0].stop()]);
    for (let index = 0; index < 60; index += 1) expect(await ask(index)).toBe(200);
    others.push(await startFakeService(BUBBLES_FRAGMENT, undefined, replicas[0].port));
    others.push(await startFakeIdentity(IDENTITY_FRAGMENT, identities[0].port));
    others.push(replicas[1], identities[1]);
    await Promise.all([leave(replicas[1]), leave(identities[1])]);
    for (let index = 0; index < 12; index += 1) expect(await ask(index)).toBe(200);
    await several.stop();
  });

  it('[ERR-05] a replica that is back and slow takes what nobody else can serve, also once both breakers were open', async () => {
    const replicas = [await startFakeService(BUBBLES_FRAGMENT), await startFakeService(BUBBLES_FRAGMENT)] as const;
    const identities = [await startFakeIdentity(IDENTITY_FRAGMENT), await startFakeIdentity(IDENTITY_FRAGMENT)] as const;
    const upstreams = { 'bubbles-query': replicas.map(({ url }) => url), 'identity-and-oauth': identities.map(({ url }) => url) };
    const several = await startWorld({ limits: { answerTimeoutMs: 20_000, exchangeTimeoutMs: 20_000 }, config: { upstreams } });
    const ask = async (index: number) =>
      (await several.fetch('/v1/bubbles/42', { headers: { authorization: `Bearer svc_pat_${index}` } })).status;
    await Promise.all([replicas[0].stop(), identities[0].stop()]);
    for (let index = 0; index < 60; index += 1) expect(await ask(index)).toBe(200);
    const back = await startFakeService(BUBBLES_FRAGMENT, undefined, replicas[0].port);
    others.push(back, await startFakeIdentity(IDENTITY_FRAGMENT, identities[0].port));
    const answer = Promise.withResolvers<void>();
    back.handle = (_, res) => void answer.promise.then(() => res.end('{}'));
    await Promise.all([replicas[1].stop(), identities[1].stop()]);
    const first = Array.from({ length: 10 }, (_, index) => ask(index));
    await until(() => back.seen.length === first.length);
    const late = Promise.race([ask(11), until(() => back.seen.length > first.length).then(() => 'asked')]);
    expect(await late).toBe('asked');
    answer.resolve();
    expect(await Promise.all(first)).toEqual(first.map(() => 200));
    await several.stop();
  });

  it('[ERR-05] answers of any status do not count against a service', async () => {
    world.bubbles.handle = (_, res) => void res.writeHead(500).end('{"error":{"type":"internal_error","message":"No."}}');
    for (let index = 0; index < 30; index += 1) expect((await world.fetch('/v1/bubbles/open')).headers.get('x-gateway-reason')).toBeNull();
  });
});

describe('the composition around it', () => {
  it('[GEN-08] what wraps its handler may take a request first, which is not in flight then', async () => {
    const taken: string[] = [];
    const hooked = await startWorld({
      infra: {
        wrapHandler: (handler) => (req, res) => {
          if (!req.url?.startsWith('/_sandbox/')) return handler(req, res);
          taken.push(`${req.url} ${hooked.gateway.inFlight()}`);
          res.end('taken');
        },
      },
    });
    expect(await (await hooked.fetch('/_sandbox/clock')).text()).toBe('taken');
    expect(taken).toEqual(['/_sandbox/clock 0']);
    expect((await hooked.fetch('/v1/bubbles/open')).status).toBe(200);
    await hooked.gateway.idle();
    await hooked.stop();
  });

  it('[ERR-05] stopping lets what is in flight finish, and closes its connections', async () => {
    const answer = Promise.withResolvers<void>();
    const stopping = await startWorld();
    stopping.bubbles.handle = (_, res) => void answer.promise.then(() => res.end('whole'));
    const pending = stopping.fetch('/v1/bubbles/open');
    await until(() => stopping.bubbles.seen.length === 1);
    const stopped = stopping.gateway.stop();
    answer.resolve();
    expect(await (await pending).text()).toBe('whole');
    expect(await stopped).toBe(true);
    await Promise.all([stopping.identity.stop(), stopping.bubbles.stop()]);
  });
});
