import { generateKeyPairSync } from 'node:crypto';
import { readProcessConfig } from '@bubbles/host/variables.ts';
import type { Environment } from '@bubbles/kernel/config.ts';
import { describe, expect, it } from '@jest/globals';
import { bubblesQuery } from './service.ts';

const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const key = (byte: number) => Buffer.alloc(32, byte);
const env = {
  PUBLIC_BASE_URL: 'https://api.test/',
  APP_BASE_URL: 'https://app.test/a/',
  MONGODB_URL: 'mongodb://db',
  AMQP_URL: 'amqps://broker',
  IDENTITY_URLS: 'http://identity-0:8080, http://identity-1:8080',
  SERVICE_KEY: privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
  CALLER_KEYS: `webhooks-dispatcher=${publicKey.export({ format: 'der', type: 'spki' }).toString('base64')}`,
  CURSOR_KEY: key(1).toString('base64'),
  PERSON_KEY: key(2).toString('base64url'),
};

const read = (environment: Environment) => readProcessConfig(bubblesQuery, environment);

describe('the configuration', () => {
  it('is read from the environment', () => {
    const config = read(env);
    expect(config).toMatchObject({
      publicBaseUrl: 'https://api.test',
      listen: { host: '0.0.0.0', port: 8080 },
    });
    expect([...config.urls]).toEqual([['identity-and-oauth', ['http://identity-0:8080', 'http://identity-1:8080']]]);
    expect(config.values).toEqual({
      APP_BASE_URL: 'https://app.test/a',
      CURSOR_KEY: key(1),
      CURSOR_KEY_PREVIOUS: null,
      PERSON_KEY: key(2),
      SEARCH_THREADS: 1,
      SEARCH_MEMORY_MIB: 1024,
    });
    expect([...config.callers.keys()]).toEqual(['webhooks-dispatcher']);
  });

  it('[LIST-08] takes the key before, while cursors of it are about', () => {
    expect(read({ ...env, CURSOR_KEY_PREVIOUS: key(3).toString('base64') }).values['CURSOR_KEY_PREVIOUS']).toEqual(key(3));
  });

  it('tells every fault at once, and no value', () => {
    const readFaulty = () => read({ ...env, CURSOR_KEY: 'c2hvcnQ=', PERSON_KEY: '', APP_BASE_URL: 'app.test', SEARCH_THREADS: '0' });
    for (const name of ['CURSOR_KEY', 'PERSON_KEY', 'APP_BASE_URL', 'SEARCH_THREADS']) expect(readFaulty).toThrow(name);
    expect(readFaulty).not.toThrow('c2hvcnQ=');
  });

  it.each(['SERVICE_KEY', 'CALLER_KEYS', 'CURSOR_KEY', 'PERSON_KEY'])('[GEN-10] %s has no default', (name) => {
    expect(() => read({ ...env, [name]: undefined })).toThrow(name);
  });
});
