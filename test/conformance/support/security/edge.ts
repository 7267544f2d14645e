import { rawConnection } from '@bubbles/testing/raw-http.ts';
import { expect } from '@jest/globals';
import { startReceiver } from '../receiver.ts';
import { control } from '../sandbox-world.ts';
import { type Checks, expectRawRefusal, expectRefusal, type Lab, readRaw, request } from './lab.ts';

const DOCUMENT = '/v1/openapi.json';
const service = ({ sandbox }: Lab, name: string, state: object) => control(sandbox.url, `POST /services/${name}`, state);
const advance = ({ sandbox }: Lab, seconds: number) => control(sandbox.url, 'POST /clock', { advance_seconds: seconds });
const FAULT = [500, 'internal_error'] as const;
const LIMITED = [429, 'rate_limited'] as const;

/** Somebody whose minute is used up, with the refusal that says so. */
const exhausted = async (lab: Lab) => {
  const { pat: as } = await lab.world.user();
  const answers = await Promise.all(Array.from({ length: 120 }, () => lab.call('/v1/me', { as })));
  const refused = await lab.call('/v1/me', { as });
  return { as, passed: answers.filter(({ status }) => status === 200).length, refused, wait: Number(refused.headers.get('retry-after')) };
};

export const EDGE_CHECKS: Checks = {
  'ACCOUNTSTATE-05': async (lab) => {
    const { pat: as } = await lab.world.user();
    await service(lab, 'identity-and-oauth', { state: 'down' });
    for (const path of ['/v1/bubbles', '/v1/webhooks', '/v1/me']) {
      const answer = await lab.call(path, { as });
      expectRefusal(answer, FAULT);
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    }
    await service(lab, 'identity-and-oauth', { state: 'up' });
    expect((await lab.call('/v1/bubbles', { as })).status).toBe(200);
  },
  'DOSTIMEOUTS-06': async (lab) => {
    const { pat: as } = await lab.world.user();
    await service(lab, 'identity-and-oauth', { state: 'slow', ms: 15_000 });
    const startedAt = Date.now();
    const answers = await Promise.all(Array.from({ length: 20 }, () => lab.call('/v1/bubbles', { as })));
    expect(Date.now() - startedAt).toBeLessThan(14_000);
    for (const answer of answers) expectRefusal(answer, FAULT);
    await service(lab, 'identity-and-oauth', { state: 'up' });
    expect((await lab.call('/v1/bubbles', { as })).status).toBe(200);
  },
  'DOSTIMEOUTS-08': async (lab) => {
    const { pat: as } = await lab.world.user();
    await service(lab, 'bubbles-query', { state: 'slow', ms: 400 });
    for (let n = 0; n < 80; n++) {
      const connection = rawConnection(lab.sandbox.url);
      connection.write(request('GET /v1/bubbles HTTP/1.1', [`Authorization: Bearer ${as}`]));
      setImmediate(() => connection.socket.destroy());
      await connection.received;
    }
    await service(lab, 'bubbles-query', { state: 'up' });
    expect((await lab.call('/v1/bubbles', { as: (await lab.world.user()).pat })).status).toBe(200);
  },
  'DOSTIMEOUTS-09': async (lab) => {
    const { id, pat: as } = await lab.world.user();
    for (let n = 0; n < 30; n++)
      await lab.world.bubble({ type: 'custom_image', participant_ids: [id], title: `harbour concert ${n} `.repeat(10) });
    const slowest = async (path: string): Promise<number> => {
      const startedAt = performance.now();
      const answers = await Promise.all(Array.from({ length: 50 }, () => lab.call(path, { as })));
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
      return performance.now() - startedAt;
    };
    const list = await slowest('/v1/bubbles');
    expect(await slowest(`/v1/bubbles/search?q=${encodeURIComponent('harbxur concret '.repeat(16))}`)).toBeLessThan(1000 + 3 * list);
  },
  'RATELIMIT-01': async (lab) => {
    const { passed, refused, wait } = await exhausted(lab);
    expect(passed).toBe(120);
    expectRefusal(refused, LIMITED);
    expect([Number.isInteger(wait), wait >= 1, wait <= 60]).toEqual([true, true, true]);
  },
  'RATELIMIT-03': async (lab) => {
    const { as, wait } = await exhausted(lab);
    // Real time goes on meanwhile.
    await advance(lab, wait - 20);
    const refused = await lab.call('/v1/me', { as });
    expectRefusal(refused, LIMITED);
    await advance(lab, Number(refused.headers.get('retry-after')));
    expect((await lab.call('/v1/me', { as })).status).toBe(200);
  },
  'RATELIMIT-06': async (lab) => {
    const { pat, session_token } = await lab.proUser();
    await Promise.all(Array.from({ length: 121 }, () => lab.call('/v1/me', { as: pat })));
    expectRefusal(await lab.call('/v1/me', { as: pat }), LIMITED);
    const { json } = await lab.call('/v1/api-keys', { method: 'POST', as: session_token, body: { name: 'a' } });
    expect((await lab.call('/v1/me', { as: json.token })).status).toBe(200);
  },
  'RATELIMIT-08': async (lab) => {
    const { as, wait } = await exhausted(lab);
    const again = await Promise.all(Array.from({ length: 30 }, () => lab.call('/v1/me', { as })));
    for (const answer of again) expect([answer.status, answer.headers.get('cache-control')]).toEqual([429, 'no-store']);
    await advance(lab, wait);
    expect((await lab.call('/v1/me', { as })).status).toBe(200);
  },
  'RATELIMIT-09': async (lab) => {
    const { as } = await exhausted(lab);
    await service(lab, 'identity-and-oauth', { state: 'down' });
    expectRefusal(await lab.call('/v1/me', { as }), FAULT);
    await service(lab, 'identity-and-oauth', { state: 'up' });
    const answers = await Promise.all(Array.from({ length: 130 }, () => lab.call('/v1/me', { as })));
    expect(answers.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(120);
  },
  'RATELIMIT-11': async (lab) => {
    const { pat: as } = await lab.world.user();
    const flood = Array.from({ length: 200 }, () => lab.call(DOCUMENT));
    expect((await lab.call('/v1/me', { as })).status).toBe(200);
    expect(new Set((await Promise.all(flood)).map(({ status }) => status))).toEqual(new Set([200]));
    expect((await flood[0])?.headers.get('cache-control')).toMatch(/max-age=\d+/);
  },
  'CORSCACHEHEADERS-01': async ({ call }) => {
    const { headers } = await call('/v1/me', { headers: { origin: 'https://evil.test', cookie: 'a=b' } });
    expect([headers.get('access-control-allow-origin'), headers.get('access-control-allow-credentials')]).toEqual(['*', null]);
    expect(headers.get('set-cookie')).toBeNull();
  },
  'CORSCACHEHEADERS-02': async ({ call }) => {
    const { headers } = await call('/v1/bubbles', {
      method: 'OPTIONS',
      headers: { origin: 'https://a.test', 'access-control-request-method': 'DELETE' },
    });
    expect(headers.get('access-control-allow-methods')).toBe('GET, HEAD, OPTIONS');
    expect(headers.get('access-control-allow-headers')).not.toContain('*');
  },
  'CORSCACHEHEADERS-04': async (lab) => {
    const { pat: as } = await lab.world.user();
    for (const path of ['/v1/me', '/v1/teams', '/v1/bubbles', '/v1/bubbles/x', '/v1/bubbles?limit=0', '/v1/webhooks']) {
      const { headers } = await lab.call(path, { as });
      expect(headers.get('cache-control')).toMatch(/no-store|private, no-cache/);
      expect(headers.get('vary')).toMatch(/Authorization/i);
      expect([headers.get('x-content-type-options'), headers.get('content-type')]).toEqual(['nosniff', 'application/json; charset=utf-8']);
    }
  },
  'CORSCACHEHEADERS-06': async (lab) => {
    const { pat, session_token } = await lab.proUser();
    const made = [
      await lab.call('/v1/api-keys', { method: 'POST', as: session_token, body: { name: 'a' } }),
      await lab.call('/v1/webhooks', { method: 'POST', as: pat, body: { url: 'https://a.example.com/', events: ['bubble.ready'] } }),
    ];
    for (const { status, headers } of made)
      expect([status, headers.get('cache-control'), headers.get('pragma')]).toEqual([201, 'no-store', 'no-cache']);
  },
  'CORSCACHEHEADERS-07': async (lab) => {
    await service(lab, 'bubbles-query', { state: 'down' });
    const { pat: as } = await lab.world.user();
    const answer = await lab.call('/v1/bubbles', { as });
    await service(lab, 'bubbles-query', { state: 'up' });
    expectRefusal(answer, FAULT);
    expect(answer.text).not.toMatch(/127\.0\.0\.1|ECONN|\bat \/|\.ts:/);
    for (const name of ['server', 'x-powered-by']) expect(answer.headers.get(name)).toBeNull();
    expect(answer.headers.get('x-request-id')).toMatch(/./);
  },
  'HOSTANDFORWARDED-03': async (lab) => {
    const text = await lab.raw(request(`GET ${DOCUMENT} HTTP/1.1`, ['Host: api.test:8443']));
    expect(text).toContain('"servers":[{"url":"http://api.test:8443"}]');
  },
  'HOSTANDFORWARDED-04': async (lab) => {
    for (const [host, url] of [
      ['API.Test', 'api.test'],
      ['api.test.', 'api.test'],
      ['[::1]:8080', '[::1]:8080'],
      ['xn--mller-kva.test', 'xn--mller-kva.test'],
    ])
      expect(await lab.raw(request(`GET ${DOCUMENT} HTTP/1.1`, [`Host: ${host}`]))).toContain(`"servers":[{"url":"http://${url}"}]`);
    for (const host of ['a"b', '[::1', '<b>', 'a..b']) await expectRawRefusal(lab, request(`GET ${DOCUMENT} HTTP/1.1`, [`Host: ${host}`]));
  },
  'HOSTANDFORWARDED-08': async (lab) => {
    const poison = ['Host: evil.test', 'X-Forwarded-Host: evil.test', 'X-Forwarded-Proto: https', 'Forwarded: host=evil.test;proto=https'];
    for (const document of [
      'oauth-authorization-server',
      'openid-configuration',
      'oauth-protected-resource',
      'oauth-protected-resource/mcp',
    ]) {
      const path = `/.well-known/${document}`;
      const { status, body } = readRaw(await lab.raw(request(`GET ${path} HTTP/1.1`, poison)));
      expect([status, JSON.parse(body)]).toEqual([200, (await lab.call(path)).json]);
      expect(body).not.toContain('evil.test');
      expect(body).toContain(lab.sandbox.url);
    }
  },
  'WEBHOOKSSRFBRIEF-03': async (lab) => {
    const { id, pat: as } = await lab.proUser();
    const [receiver, internal] = [await startReceiver(), await startReceiver()];
    receiver.answer((res) => res.writeHead(302, { location: internal.url }).end());
    await lab.call('/v1/webhooks', { method: 'POST', as, body: { url: receiver.url, events: ['bubble.ready'] } });
    await lab.world.bubble({ type: 'custom_image', participant_ids: [id] });
    await receiver.reached(1);
    await Promise.all([receiver.close(), internal.close()]);
    expect([receiver.received.length, internal.received.length]).toEqual([1, 0]);
  },
};
