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
      values: { SEAL_KEYS: [{ id: 'k1' }] },
      listen: { port: 8080 },
      ops: { port: 9090 },
    });
    expect([...config.callers.keys()]).toEqual(['gateway', 'operator']);
  });

  it('gives access tokens an hour when nobody says otherwise, and a day at most', () => {
    const lifeOf = (life?: string) =>
      readProcessConfig(identityAndOauth, { ...env, ...(life !== undefined && { OAUTH_ACCESS_TOKEN_LIFE: life }) }).values[
        'OAUTH_ACCESS_TOKEN_LIFE'
      ];
    expect([lifeOf(), lifeOf('1d')]).toEqual([3_600_000, 86_400_000]);
    for (const life of ['25h', '0s', '999ms'])
      expect(() => lifeOf(life)).toThrow('bad configuration: OAUTH_ACCESS_TOKEN_LIFE: must be from 1s to 1d');
  });

  it('has no default for a secret, and names all that is missing at once', () => {
    expect(() => readProcessConfig(identityAndOauth, {})).toThrow(
      'bad configuration: PUBLIC_BASE_URL: is required; MONGODB_URL: is required; AMQP_URL: is required; CALLER_KEYS: is required; SEAL_KEYS: is required',
    );
  });
});
