import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { readBubblesConfig, SEARCH_DEFAULTS } from './config.ts';

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

describe('the configuration', () => {
  it('is read from the environment', () => {
    const config = readBubblesConfig(env);
    expect(config).toMatchObject({
      publicBaseUrl: 'https://api.test',
      identityUrls: ['http://identity-0:8080', 'http://identity-1:8080'],
      listen: { host: '0.0.0.0', port: 8080 },
    });
    expect(config.bubbles).toEqual({
      appBaseUrl: 'https://app.test/a',
      cursorKeys: { current: key(1), previous: null },
      personKey: key(2),
      search: SEARCH_DEFAULTS,
      releaseLeasesAtStart: false,
    });
    expect([...config.callers.keys()]).toEqual(['webhooks-dispatcher']);
  });

  it('[LIST-08] takes the key before, while cursors of it are about', () => {
    expect(readBubblesConfig({ ...env, CURSOR_KEY_PREVIOUS: key(3).toString('base64') }).bubbles.cursorKeys.previous).toEqual(key(3));
  });

  it('tells every fault at once, and no value', () => {
    const read = () => readBubblesConfig({ ...env, CURSOR_KEY: 'c2hvcnQ=', PERSON_KEY: '', APP_BASE_URL: 'app.test', SEARCH_THREADS: '0' });
    for (const name of ['CURSOR_KEY', 'PERSON_KEY', 'APP_BASE_URL', 'SEARCH_THREADS']) expect(read).toThrow(name);
    expect(read).not.toThrow('c2hvcnQ=');
  });

  it.each(['SERVICE_KEY', 'CALLER_KEYS', 'CURSOR_KEY', 'PERSON_KEY'])('[GEN-10] %s has no default', (name) => {
    expect(() => readBubblesConfig({ ...env, [name]: undefined })).toThrow(name);
  });
});
