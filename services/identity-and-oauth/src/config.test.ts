import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { readProcessConfig } from '@bubbles/host/variables.ts';
import { readConfig } from '@bubbles/kernel/config.ts';
import { openTestService } from '@bubbles/testing/service-under-test.ts';
import { testData } from '@bubbles/testing/test-data.ts';
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { configOf, VARIABLES } from './config.ts';
import { identityAndOauth } from './service.ts';

const spki = () => generateKeyPairSync('ed25519').publicKey.export({ format: 'der', type: 'spki' }).toString('base64');

describe('the environment of identity', () => {
  const env = {
    PUBLIC_BASE_URL: 'https://api.test/',
    MONGODB_URL: 'mongodb://db/',
    AMQP_URL: 'amqp://broker',
    SEAL_KEYS: `k1=${randomBytes(32).toString('base64')}`,
    CALLER_KEYS: `gateway=${spki()},operator=${spki()}`,
    WEBHOOKS_DISPATCHER_URLS: 'http://dispatcher:8080',
    SERVICE_KEY: generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
  };

  it('needs its base URL, stores and keys, and knows the rest', () => {
    const config = readProcessConfig(identityAndOauth, env);
    expect(config).toMatchObject({
      publicBaseUrl: 'https://api.test',
      values: {
        SEAL_KEYS: [{ id: 'k1' }],
        OAUTH_ACCESS_TOKEN_LIFE: 3_600_000,
        OAUTH_CODE_LIFE: 60_000,
        OAUTH_REFRESH_LIFE: 2_592_000_000,
        OAUTH_GRANT_LIFE: 31_536_000_000,
        OAUTH_REFRESH_RACE_WINDOW: 2000,
        PRO_TRIAL: 1_209_600_000,
      },
      listen: { port: 8080 },
      ops: { port: 9090 },
    });
    expect([...config.callers.keys()]).toEqual(['gateway', 'operator']);
  });

  it.each([
    ['OAUTH_ACCESS_TOKEN_LIFE', '25h', 'must be at most 1d'],
    ['OAUTH_ACCESS_TOKEN_LIFE', '59s', 'must be at least 1m'],
    ['OAUTH_CODE_LIFE', '11m', 'must be at most 10m'],
    ['OAUTH_REFRESH_RACE_WINDOW', '2m', 'must be at most 1m'],
    ['PRO_TRIAL', '366d', 'must be at most 365d'],
  ])('[OAUTH-10] [SIGN-06] refuses %s=%s', (name, value, reason) => {
    expect(() => readProcessConfig(identityAndOauth, { ...env, [name]: value })).toThrow(`bad configuration: ${name}: ${reason}`);
  });

  it('[OAUTH-10] takes access tokens for a day, and a race window of nothing', () => {
    const { values } = readProcessConfig(identityAndOauth, { ...env, OAUTH_ACCESS_TOKEN_LIFE: '1d', OAUTH_REFRESH_RACE_WINDOW: '0s' });
    expect(values).toMatchObject({ OAUTH_ACCESS_TOKEN_LIFE: 86_400_000, OAUTH_REFRESH_RACE_WINDOW: 0 });
  });

  it('fetches client metadata documents from public addresses, unless it is told otherwise', () => {
    const documentsOf = (given: Record<string, string>) =>
      configOf(readConfig(z.object(VARIABLES), { SEAL_KEYS: env.SEAL_KEYS, ...given })).documents;
    const publicOnly = { allow: [], deny: [], extraCa: [], http: false, loopback: false, offline: false };
    expect(documentsOf({})).toEqual(publicOnly);
    expect(documentsOf({ OAUTH_CLIENT_DOCUMENTS: '0' })).toBeNull();
    const ca = testData('certificates/ca.pem');
    const given = { OAUTH_CLIENT_DOCUMENTS_ALLOW_CIDRS: '10.1.0.0/16, fd00::/8', OAUTH_CLIENT_DOCUMENTS_DENY_CIDRS: '1.0.0.0/8' };
    expect(documentsOf({ ...given, OAUTH_CLIENT_DOCUMENTS_EXTRA_CA: ca })).toEqual({
      ...publicOnly,
      allow: ['10.1.0.0/16', 'fd00::/8'],
      deny: ['1.0.0.0/8'],
      extraCa: [ca],
    });
    for (const networks of ['10.0.0.1', '10.0.0.0/33', '10.0.0.0/', 'local/8'])
      expect(() => documentsOf({ OAUTH_CLIENT_DOCUMENTS_DENY_CIDRS: networks })).toThrow('OAUTH_CLIENT_DOCUMENTS_DENY_CIDRS: must be');
    expect(() => documentsOf({ OAUTH_CLIENT_DOCUMENTS_EXTRA_CA: 'ca.pem' })).toThrow('must be certificates in PEM');
  });

  it('ends the start without a mail server, in one line', () => {
    const start = (more: object) => () => openTestService(identityAndOauth, { environment: { MAIL_FILES: '', ...more } });
    expect(start({})).toThrow('bad configuration: SMTP_URL: is required, or MAIL_FILES on a machine without a mail server');
    expect(start({ SMTP_URL: 'smtps://mail.test' })).toThrow('bad configuration: MAIL_FROM: is required with SMTP_URL');
    expect(start({ SMTP_URL: 'smtps://mail.test', MAIL_FROM: 'no-reply@acme.test' })).not.toThrow();
  });

  it('has no default for a secret, and names all that is missing at once', () => {
    expect(() => readProcessConfig(identityAndOauth, {})).toThrow(
      'bad configuration: PUBLIC_BASE_URL: is required; MONGODB_URL: is required; AMQP_URL: is required; CALLER_KEYS: is required; WEBHOOKS_DISPATCHER_URLS: is required; SERVICE_KEY: is required; SEAL_KEYS: is required',
    );
  });
});
