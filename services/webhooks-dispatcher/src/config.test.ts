import { generateKeyPairSync } from 'node:crypto';
import { readProcessConfig } from '@bubbles/host/variables.ts';
import { type Environment, readConfig } from '@bubbles/kernel/config.ts';
import { testData } from '@bubbles/testing/test-data.ts';
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { configOf, DEFAULT_QUOTA, PRODUCTION_LIMITS, PRODUCTION_TIMING, VARIABLES } from './config.ts';
import { webhooksDispatcher } from './service.ts';

const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const key = (byte: number) => Buffer.alloc(32, byte);
const ca = testData('certificates/ca.pem');
const env = {
  PUBLIC_BASE_URL: 'https://api.test',
  MONGODB_URL: 'mongodb://db',
  AMQP_URL: 'amqp://broker',
  IDENTITY_URLS: 'http://identity:8080',
  APP_BASE_URL: 'https://app.test',
  BUBBLES_QUERY_URLS: 'http://bubbles-0:8080,http://bubbles-1:8080',
  SERVICE_KEY: privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
  CALLER_KEYS: `gateway=${publicKey.export({ format: 'der', type: 'spki' }).toString('base64')}`,
  SEAL_KEYS: `k1=${key(1).toString('base64')}`,
  CURSOR_KEY: key(2).toString('base64'),
};

const readProcess = (environment: Environment) => readProcessConfig(webhooksDispatcher, environment);
/** Of the variables that are its own. */
const read = (environment: Environment) =>
  configOf({ config: readConfig(z.object(VARIABLES), environment), publicBaseUrl: readProcess(environment).publicBaseUrl });

describe('the configuration', () => {
  it('starts with what an earlier release was told: without APP_BASE_URL the link of a test leads to the API', () => {
    const { APP_BASE_URL, ...earlier } = env;
    expect(read(env).appBaseUrl).toBe(APP_BASE_URL);
    expect(read(earlier).appBaseUrl).toBe('https://api.test');
  });

  it('is read from the environment', () => {
    const given = { ...env, WEBHOOK_ALLOW_CIDRS: '10.1.0.0/16, fd00::/8', WEBHOOK_EXTRA_CA: ca };
    expect(readProcess(given).urls.get('bubbles-query')).toEqual(['http://bubbles-0:8080', 'http://bubbles-1:8080']);
    expect(read(given)).toEqual({
      headerName: 'Service',
      userAgent: 'recordings-webhooks/1',
      appBaseUrl: 'https://app.test',
      sealKeys: [{ id: 'k1', key: key(1) }],
      cursorKeys: { current: key(2), previous: null },
      receivers: { allow: ['10.1.0.0/16', 'fd00::/8'], deny: [], http: false, loopback: false, offline: false, extraCa: [ca] },
      timing: PRODUCTION_TIMING,
      limits: PRODUCTION_LIMITS,
      quota: DEFAULT_QUOTA,
    });
  });

  it('[HOOK-10] admits neither http nor loopback unless it is told to', () => {
    expect(read(env).receivers).toEqual({
      allow: [],
      deny: [],
      http: false,
      loopback: false,
      offline: false,
      extraCa: [],
    });
  });

  it('[DLV-02] the part of the header names is configuration', () => {
    expect(read({ ...env, WEBHOOK_HEADER_NAME: 'Acme-Notes' }).headerName).toBe('Acme-Notes');
  });

  it.each([
    ['WEBHOOK_USER_AGENT', ['café/1', 'a\r\nX-Evil: 1', 'a\n', ' a', 'a ', 'a\tb', '🎈', 'a\u0000', 'a'.repeat(257)]],
    ['WEBHOOK_HEADER_NAME', ['a b', 'Ünï', 'a:', 'a\n', 'a_b', '-a', 'a--b', 'a'.repeat(65)]],
  ])('[DLV-02] %s with what HTTP refuses ends the start', (name, values) => {
    for (const value of values) expect(() => readProcess({ ...env, [name]: value })).toThrow(name);
  });

  it('[DLV-02] the user agent is configuration', () => {
    const agent = 'Acme Notes/1.0 (+https://acme.example/hooks; ~"x")';
    expect(read({ ...env, WEBHOOK_USER_AGENT: agent }).userAgent).toBe(agent);
  });

  it('a switch is 1, true, 0 or false, and nothing else', () => {
    const http = (text: string) => read({ ...env, WEBHOOK_ALLOW_HTTP: text }).receivers.http;
    expect(['1', 'true', '0', 'false'].map(http)).toEqual([true, true, false, false]);
    for (const text of ['yes', 'TRUE', 'on', '2']) expect(() => http(text)).toThrow('WEBHOOK_ALLOW_HTTP: must be 1, true, 0 or false');
  });

  it('tells every fault at once', () => {
    const readFaulty = () =>
      readProcess({
        ...env,
        WEBHOOK_DENY_CIDRS: '10.0.0.1',
        WEBHOOK_HEADER_NAME: 'a b',
        WEBHOOK_EXTRA_CA: 'ca.pem',
        BUBBLES_QUERY_URLS: '',
        CURSOR_KEY: 'x',
      });
    for (const name of ['WEBHOOK_DENY_CIDRS', 'WEBHOOK_HEADER_NAME', 'WEBHOOK_EXTRA_CA', 'BUBBLES_QUERY_URLS', 'CURSOR_KEY'])
      expect(readFaulty).toThrow(name);
  });

  it.each(['SERVICE_KEY', 'CALLER_KEYS', 'SEAL_KEYS', 'CURSOR_KEY'])('[GEN-10] %s has no default', (name) => {
    expect(() => readProcess({ ...env, [name]: undefined })).toThrow(name);
  });
});
