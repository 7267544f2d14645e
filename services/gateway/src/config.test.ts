import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { readGatewayConfig } from './config.ts';

const SERVICE_KEY = generateKeyPairSync('ed25519').privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64');
const env = {
  SERVICE_KEY,
  UPSTREAMS: 'identity-and-oauth=http://127.0.0.1:4001,http://127.0.0.1:4002;bubbles-query=dns+http://bubbles:4003',
};

describe('configuration', () => {
  it('[GEN-08] a service owns its prefixes only where it has an address', () => {
    const { config } = readGatewayConfig(env);
    expect(config.upstreams).toEqual({
      'identity-and-oauth': ['http://127.0.0.1:4001', 'http://127.0.0.1:4002'],
      'bubbles-query': ['dns+http://bubbles:4003'],
    });
    expect(Object.keys(config.prefixes)).toEqual(['identity-and-oauth', 'bubbles-query', 'gateway']);
  });

  it('[GEN-09] knows the proxies by their networks', () => {
    const { config } = readGatewayConfig({ ...env, TRUSTED_PROXIES: '10.0.0.0/8, ::1' });
    expect(['10.1.2.3', '::ffff:10.1.2.3', '::1', '11.0.0.1'].map((address) => config.trustedProxies.has(address))).toEqual([
      true,
      true,
      true,
      false,
    ]);
    expect(readGatewayConfig(env).config.trustedProxies.has('127.0.0.1')).toBe(false);
  });

  it('[GEN-10] tells every fault at once and shows no value', () => {
    const read = () =>
      readGatewayConfig({
        PORT: 'secret',
        SERVICE_KEY: 'secret',
        UPSTREAMS: 'nobody=http://secret',
        TRUSTED_PROXIES: 'secret',
        PUBLIC_BASE_URL: 'secret',
      });
    for (const name of ['PORT', 'SERVICE_KEY', 'UPSTREAMS', 'TRUSTED_PROXIES', 'PUBLIC_BASE_URL']) expect(read).toThrow(name);
    expect(read).not.toThrow(/secret/);
  });

  it.each(['', 'http://a', 'bubbles-query=', 'bubbles-query=ftp://a', 'bubbles-query=http://a/path', 'gateway'])(
    '[GEN-08] upstreams of %j are none',
    (UPSTREAMS) => {
      expect(() => readGatewayConfig({ ...env, UPSTREAMS })).toThrow('UPSTREAMS');
    },
  );
});
