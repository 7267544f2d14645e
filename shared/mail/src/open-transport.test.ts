import { type Environment, readConfig } from '@bubbles/kernel/config.ts';
import { fakeClock } from '@bubbles/testing/fake-clock.ts';
import { fakeIds } from '@bubbles/testing/fake-ids.ts';
import { testData } from '@bubbles/testing/test-data.ts';
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { aMail, serving, uncut } from '../test/sending.ts';
import { MAIL_VARIABLES, openMailTransport } from './open-transport.ts';

const read = (env: Environment) => readConfig(z.object(MAIL_VARIABLES), env);
const opened = (env: Environment) => openMailTransport(read(env), { clock: fakeClock(), ids: fakeIds() });

describe('the variables of mail', () => {
  it.each([
    ['smtp://mail.test', { host: 'mail.test', port: 587, secure: false, login: null }],
    ['smtps://mail.test/', { host: 'mail.test', port: 465, secure: true, login: null }],
    ['smtp://u:p@mail.test:2525', { host: 'mail.test', port: 2525, secure: false, login: { user: 'u', password: 'p' } }],
    [
      'smtps://no-reply%40mail.test:p%2Fs%3Aw%40@[2001:db8::1]:25',
      { host: '2001:db8::1', port: 25, secure: true, login: { user: 'no-reply@mail.test', password: 'p/s:w@' } },
    ],
  ])('read %s', (url, server) => {
    expect(read({ SMTP_URL: url }).SMTP_URL).toEqual(server);
  });

  it.each([
    'mail.test',
    'https://mail.test',
    'smtp://',
    'smtp://mail.test/path',
    'smtp://mail.test?tls=no',
    'smtp://user@mail.test',
    'smtp://:hidden@mail.test',
    'smtp://u:%zz@mail.test',
    'smtp://u:hidden@mail.test:99999',
  ])('refuse %s, without repeating it', (url) => {
    expect(() => read({ SMTP_URL: url })).toThrow(
      /^bad configuration: SMTP_URL: must be smtp:\/\/\[user:password@\]host\[:port\] or smtps:\/\/…$/,
    );
  });

  it.each([
    ['no-reply@acme.test', { name: '', address: 'no-reply@acme.test' }],
    ['no-reply@bücher.example', { name: '', address: 'no-reply@xn--bcher-kva.example' }],
    ['Acme & Söhne <no-reply@acme.test>', { name: 'Acme & Söhne', address: 'no-reply@acme.test' }],
  ])('read the sender %s', (text, from) => {
    expect(read({ MAIL_FROM: text }).MAIL_FROM).toEqual(from);
  });

  it.each([
    'Acme',
    'a@b%.test',
    'a@b.test, c@d.test',
    'A <a@b.test> <c@d.test>',
    'A <a@b.test>\r\nBcc: c@d.test',
    'A\r\n <a@b.test>',
    '<>',
  ])('refuse the sender %j', (text) => {
    expect(() => read({ MAIL_FROM: text })).toThrow('MAIL_FROM: must be an address such as');
  });

  it('name a mail server or a folder, and the sender with the server', () => {
    expect(() => opened({})).toThrow('SMTP_URL: is required, or MAIL_FILES on a machine without a mail server');
    expect(() => opened({ SMTP_URL: 'smtp://mail.test', MAIL_FILES: '/mails' })).toThrow('MAIL_FROM: is required with SMTP_URL');
    expect(() => opened({ SMTP_URL: 'smtp://mail.test', MAIL_FROM: 'a@b.test', SMTP_TLS: 'never' })).toThrow('SMTP_TLS: ');
  });

  it('lead to the mail server, where a folder is named too', async () => {
    const { port, received } = await serving();
    const env = { SMTP_URL: `smtp://localhost:${port}`, MAIL_FROM: 'a@b.test', MAIL_FILES: '/dev/null/mails' };
    const stranger = opened(env);
    await expect(stranger.deliver(aMail(), uncut)).rejects.toMatchObject({ reason: 'tls' });
    const known = opened({ ...env, SMTP_EXTRA_CA: testData('certificates/localhost.pem') });
    await known.deliver(aMail(), uncut);
    expect(received).toMatchObject([{ secure: true, envelope: { from: 'a@b.test' } }]);
    await Promise.all([stranger.close(), known.close()]);
  });
});
