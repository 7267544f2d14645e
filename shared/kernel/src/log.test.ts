import { capturedLog } from '@bubbles/testing/captured-log.ts';
import { fakeClock } from '@bubbles/testing/fake-clock.ts';
import { describe, expect, it } from '@jest/globals';
import { DomainError } from './errors.ts';
import { callHeaders, runInSpan, startSpan } from './trace.ts';

describe('the log', () => {
  it('writes one JSON line an event', () => {
    const { log, text, lines } = capturedLog();
    log.info('a\r\nb\u001b[31m', { path: 'x\ny' });
    expect(text().split('\n')).toHaveLength(2);
    expect(text()).not.toContain('\u001b');
    expect(lines()).toEqual([
      { level: 'info', time: expect.stringMatching(/^\d{4}-.*Z$/), service: 'tested-service', path: 'x\ny', message: 'a\r\nb\u001b[31m' },
    ]);
  });

  it('[GEN-09] every line of a request carries its id, however deep and however late', async () => {
    const { log, lines } = capturedLog();
    const span = startSpan();
    const work = async () => {
      log.debug('one');
      await Promise.resolve();
      log.child({ job: 'x' }).warn('two');
      expect(callHeaders()).toMatchObject({ 'x-request-id': 'req-1' });
    };
    await runInSpan(span, work, { requestId: 'req-1' });
    log.info('three');
    expect(callHeaders()).toEqual({});
    const ids = { request_id: 'req-1', trace_id: span.traceId, span_id: span.id };
    const [one, two, three] = lines();
    expect([one, two]).toMatchObject([ids, { ...ids, job: 'x' }]);
    expect(Object.keys(three ?? {})).toEqual(['level', 'time', 'service', 'message']);
  });

  it('shows an error with its kind, code and causes', () => {
    const { log, lines } = capturedLog();
    const cause = Object.assign(new Error('connect failed'), { code: 'ECONNREFUSED' });
    log.error('failed', { error: new DomainError('unavailable', 'no store', { cause }) });
    expect(lines()[0]).toMatchObject({
      error: { name: 'DomainError', kind: 'unavailable', message: 'no store', cause: { message: 'connect failed', code: 'ECONNREFUSED' } },
    });
  });

  const failTo = (what: string) => new DomainError('unavailable', 'The store is away.', { cause: new Error(`${what} failed`) });

  it('writes the frames of a fault once, keeps its lines short after that, and counts them', () => {
    const clock = fakeClock();
    const { log, text, lines } = capturedLog({ nowMs: clock.monotonic });
    for (let n = 0; n < 100; n += 1) log.warn('request could not be served', { error: failTo(`read ${n}`) });
    const [first, ...others] = lines();
    expect(first).toMatchObject({ error: { at: expect.arrayContaining([expect.any(String)]), cause: { at: expect.any(Array) } } });
    expect(others.at(-1)).toEqual({
      ...first,
      time: expect.any(String),
      error: {
        name: 'DomainError',
        message: 'The store is away.',
        kind: 'unavailable',
        cause: { name: 'Error', message: 'read 99 failed' },
      },
    });
    expect(text().length / lines().length).toBeLessThan(400);
  });

  it('writes the frames again after a minute, with the number of the lines that were short', async () => {
    const clock = fakeClock();
    const { log, lines } = capturedLog({ nowMs: clock.monotonic });
    for (let n = 0; n < 4; n += 1) log.warn('failed', { error: failTo('read') });
    await clock.advance(60_000);
    log.child({ job: 'x' }).warn('failed', { error: failTo('read') });
    expect(lines()[4]).toMatchObject({ error: { at: expect.any(Array) } });
    expect(lines().map(({ error }) => error)).toEqual([
      expect.not.objectContaining({ repeats: expect.anything() }),
      ...Array.from({ length: 3 }, () => expect.not.objectContaining({ at: expect.anything() })),
      expect.objectContaining({ repeats: 3 }),
    ]);
  });

  it('writes the frames of each fault that was thrown elsewhere', () => {
    const { log, lines } = capturedLog();
    log.warn('failed', { error: new Error('a fault') });
    log.warn('failed', { error: new Error('a fault') });
    log.warn('failed', { error: new TypeError('a fault') });
    expect(lines()).toHaveLength(3);
    for (const { error } of lines()) expect(error).toHaveProperty('at');
  });

  it.each([
    ['a broker URL', 'amqp://user:hunter2@broker:5672/vhost', 'amqp://[redacted]@broker:5672/vhost'],
    ['a store URL with two hosts', 'mongodb://u:hunter2@a:1,b:2/db?w=1', 'mongodb://[redacted]@a:1,b:2/db?w=1'],
    ['a password with an @', 'mongodb+srv://u:hun@hunter2@a/db', 'mongodb+srv://[redacted]@a/db'],
    ['a personal access token', 'token svc_pat_hunter2 is', 'token svc_pat_[redacted] is'],
    ['a session token', 'token svc_session_hunter2 is', 'token svc_session_[redacted] is'],
    ['an authorization code', 'code svc_code_hunter2 is', 'code svc_code_[redacted] is'],
    ['a refresh token', 'token svc_refresh_hunter2-_x is', 'token svc_refresh_[redacted] is'],
    ['a secret of a client', 'svc_secret_hunter2', 'svc_secret_[redacted]'],
    ['a registration token', 'Bearer-less svc_registration_hunter2.', 'Bearer-less svc_registration_[redacted].'],
    ['a cookie header', 'cookie: __Host-session=hunter2; a=hunter2', 'cookie: [redacted]'],
    ['a cookie that is set', 'Set-Cookie: a=hunter2; Path=/\nb', 'Set-Cookie: [redacted]\nb'],
    ['a session cookie', 'sent __Host-session=hunter2; Path=/', 'sent __Host-session=[redacted]; Path=/'],
    ['a session cookie over plain http', 'sent session=hunter2; Path=/', 'sent session=[redacted]; Path=/'],
    ['a cookie of one request', '__Secure-authorization=hunter2', '__Secure-authorization=[redacted]'],
    ['a cookie of a sign-in', 'sent sign-in=hunter2; a', 'sent sign-in=[redacted]; a'],
    ['a cookie of one request over plain http', 'sent authorization=hunter2; a', 'sent authorization=[redacted]; a'],
    ['the token of a form', 'scope=a&csrf=hunter2&x=1', 'scope=a&csrf=[redacted]&x=1'],
    ['what goes to the token endpoint', 'client_secret=hunter2&code_verifier=hunter2', 'client_secret=[redacted]&code_verifier=[redacted]'],
    ['what comes of it', '{"access_token": "hunter2","id_token":"hunter2"}', '{"access_token":"[redacted]","id_token":"[redacted]"}'],
    ['what comes of a registration', '{"registration_access_token":"hunter2"}', '{"registration_access_token":"[redacted]"}'],
    ['a webhook secret', 'whsec_hunter2', 'whsec_[redacted]'],
    ['a bearer token', 'authorization: Bearer hunter2.a.b', 'authorization: Bearer [redacted]'],
    ['a JWT', 'got eyJhbGciOiJFZERTQSJ9.eyJodW50ZXIyIjoxfQ.c2ln', 'got [redacted]'],
    ['a JWT behind a prefix', 'session-eyJhbGciOiJFZERTQSJ9.hunter2.c2ln, gone', 'session-[redacted], gone'],
    ['a JWT behind other parts', 'host.name.eyJhbGciOiJFZERTQSJ9.hunter2.c2ln gone', 'host.name.[redacted] gone'],
    ['a URL behind a long scheme', `${'a.'.repeat(50)}b://u:hunter2@a`, `${'a.'.repeat(50)}b://[redacted]@a`],
    ['a code in a URL', 'https://a.test/cb?code=hunter2&state=1', 'https://a.test/cb?code=[redacted]&state=1'],
    ['a signup session', 'GET /v1/signup/verify?signup_session=hunter2', 'GET /v1/signup/verify?signup_session=[redacted]'],
  ])('[GEN-10] hides %s wherever it stands', (_, unsafe, safe) => {
    const { log, text, lines } = capturedLog();
    log.warn(unsafe, { field: unsafe, deep: { list: [unsafe] }, error: new Error('outer', { cause: new Error(unsafe) }) });
    log.child({ bound: unsafe }).info('child');
    expect(text()).not.toContain('hunter2');
    expect(lines()[0]).toMatchObject({ message: safe, field: safe, deep: { list: [safe] }, error: { cause: { message: safe } } });
    expect(lines()[1]).toMatchObject({ bound: safe });
  });

  it.each([
    'a',
    'a.',
    'a.b ',
    'a-',
    '://',
    '://a:',
    'eyJ',
    'eyJ-',
    'eyJ.',
    'eyJa.a ',
    'Bearer ',
    'Basic\t',
    'code=',
    '"code":"',
    'Cookie:',
    'Cookie: ',
    '__Host-',
    '__Host-a',
    'session=',
    'svc_',
    'svc_pat',
    'svc_pat_',
    'a@',
  ])('[GEN-10] reads a text of %j over and over in a time that grows with its length alone', (part) => {
    const { log, lines } = capturedLog();
    // A quarter of an hour where it grows with the square.
    log.info(part.repeat(1_000_000));
    expect(lines().length).toBe(1);
  });

  it('[GEN-10] cuts a text of megabytes between two words, so that half a secret is never shown', () => {
    const { log, text } = capturedLog();
    log.info(`${'a '.repeat(32_760)}https://ada:hunter2${'x'.repeat(2_000_000)}@db.test`);
    expect(text()).not.toContain('hunter2');
    expect(text()).toContain(' a [cut, ');
  });

  it('[GEN-10] hides a field by its name, whatever is in it', () => {
    const { log, text } = capturedLog();
    log.info('x', {
      authorization: 'hunter2',
      client_secret: 'hunter2',
      csrf: 'hunter2',
      refresh_token: ['hunter2'],
      body: { passcode: 'hunter2' },
      refreshToken: null,
    });
    expect(text()).not.toContain('hunter2');
    expect(text()).toContain('"refreshToken":null');
  });

  it('leaves other text alone', () => {
    const { log, lines } = capturedLog();
    log.info('mail from a@b.test to https://a.test/x@y about code, token and password');
    expect(lines()[0]).toMatchObject({ message: 'mail from a@b.test to https://a.test/x@y about code, token and password' });
  });

  it('does not stumble over what JSON cannot hold', () => {
    const { log, lines } = capturedLog();
    const round: Record<string, unknown> = {};
    round['self'] = round;
    log.info('x', { round, big: 10n, at: new Date(0), nothing: undefined });
    expect(lines()[0]).toMatchObject({ big: '10', at: '1970-01-01T00:00:00.000Z' });
  });
});
