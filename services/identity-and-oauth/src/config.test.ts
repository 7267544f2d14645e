import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { readProcessConfig } from '@bubbles/host/variables.ts';
import { describe, expect, it } from '@jest/globals';
import { identityAndOauth } from './service.ts';

const spki = () => generateKeyPairSync('ed25519').publicKey.export({ format: 'der', type: 'spki' }).toString('base64');

describe('the environment of identity', () => {
  const env = {
    PUBLIC_BASE_URL: 'https://api.test/',
    MONGODB_URL: 'mongodb://db/',
    AMQP_URL: 'amqp://broker',
    SEAL_KEYS: `k1=${randomBytes(32).toString('base64')}`,
    CALLER_KEYS: `gateway=${spki()},operator=${spki()}`,
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
  ])('[OAUTH-10] refuses %s=%s', (name, value, reason) => {
    expect(() => readProcessConfig(identityAndOauth, { ...env, [name]: value })).toThrow(`bad configuration: ${name}: ${reason}`);
  });

  it('[OAUTH-10] takes access tokens for a day, and a race window of nothing', () => {
    const { values } = readProcessConfig(identityAndOauth, { ...env, OAUTH_ACCESS_TOKEN_LIFE: '1d', OAUTH_REFRESH_RACE_WINDOW: '0s' });
    expect(values).toMatchObject({ OAUTH_ACCESS_TOKEN_LIFE: 86_400_000, OAUTH_REFRESH_RACE_WINDOW: 0 });
  });

  it('has no default for a secret, and names all that is missing at once', () => {
    expect(() => readProcessConfig(identityAndOauth, {})).toThrow(
      'bad configuration: PUBLIC_BASE_URL: is required; MONGODB_URL: is required; AMQP_URL: is required; CALLER_KEYS: is required; SEAL_KEYS: is required',
    );
  });
});
