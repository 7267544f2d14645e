import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { readConfig } from './config.ts';
import {
  base64Key,
  baseUrl,
  baseUrls,
  callerKeys,
  commaList,
  connectionUrl,
  duration,
  flag,
  peerList,
  port,
  sealKeys,
  signingKey,
  wholeNumber,
} from './config-values.ts';

describe('the configuration', () => {
  const schema = z.object({
    PORT: port().default(8080),
    MODE: z.enum(['a', 'b']),
    SECRET: z.string().min(8),
    STORE_URL: connectionUrl('mongodb'),
  });
  const good = { MODE: 'a', SECRET: 'long enough', STORE_URL: 'mongodb://u:p@h/db' };
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'config-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  it('is typed values, and nothing of the environment besides', () => {
    expect(readConfig(schema, { ...good, PATH: '/bin' })).toEqual({ ...good, PORT: 8080 });
    expect(readConfig(schema, { ...good, PORT: '0' }).PORT).toBe(0);
  });

  it('[GEN-10] names every faulty variable at once, and no value', () => {
    const faulty = () => readConfig(schema, { PORT: 'hunter2', MODE: 'hunter2', SECRET: 'hunter2', STORE_URL: '' });
    expect(faulty).toThrow(
      'bad configuration: PORT: must be a whole number from 0 to 65535; MODE: must be one of "a", "b"; SECRET: must have at least 8 characters; STORE_URL: is required',
    );
  });

  it('reads a secret from a file, without its last line break', async () => {
    const file = join(folder, 'secret');
    await writeFile(file, 'from a file\n');
    const { SECRET: _, ...others } = good;
    expect(readConfig(schema, { ...others, SECRET_FILE: file }).SECRET).toBe('from a file');
  });

  it('says when the file is missing, or the value is there twice', () => {
    expect(() => readConfig(schema, { ...good, SECRET: '', SECRET_FILE: '/nowhere/at/all' })).toThrow(
      'bad configuration: SECRET: the file that SECRET_FILE names cannot be read',
    );
    expect(() => readConfig(schema, { ...good, SECRET_FILE: '/nowhere/at/all' })).toThrow('SECRET: is given twice, also as SECRET_FILE');
  });

  it('says what is wrong between variables', () => {
    const pair = z.object({ LOW: port(), HIGH: port() }).refine(({ LOW, HIGH }) => LOW < HIGH, 'LOW must be below HIGH');
    expect(() => readConfig(pair, { LOW: '2', HIGH: '1' })).toThrow('bad configuration: environment: LOW must be below HIGH');
  });
});

describe('values of variables', () => {
  const read = (type: z.ZodType) => (text: string) => {
    const parsed = type.safeParse(text);
    return parsed.success ? parsed.data : null;
  };
  const refusedAll = (type: z.ZodType, ...texts: readonly string[]) => expect(texts.map(read(type))).toEqual(texts.map(() => null));

  it('whole numbers', () => {
    expect(['1', '20'].map(read(wholeNumber(1, 20)))).toEqual([1, 20]);
    refusedAll(wholeNumber(1, 20), '0', '21', '1.0', '1e1', ' 1', '+1', '01', '0x1', '');
  });

  it('switches', () => {
    expect(['1', 'true', '0', 'false'].map(read(flag()))).toEqual([true, true, false, false]);
    refusedAll(flag(), 'yes', 'TRUE', '2', '01', ' 1', '');
  });

  it('lists', () => {
    expect(read(commaList())(' a, b ,,c')).toEqual(['a', 'b', 'c']);
  });

  it('durations, in milliseconds', () => {
    expect(['500ms', '30s', '5m', '1h', '14d'].map(read(duration()))).toEqual([500, 30_000, 300_000, 3_600_000, 1_209_600_000]);
    refusedAll(duration(), '5', '5 s', '1.5s', '-1s', 's', '1w');
  });

  it('base URLs', () => {
    expect(['https://a.test', 'http://a.test:8080/', 'https://a.test/app/'].map(read(baseUrl()))).toEqual([
      'https://a.test',
      'http://a.test:8080',
      'https://a.test/app',
    ]);
    refusedAll(baseUrl(), 'a.test', 'ftp://a.test', 'https://u:p@a.test', 'https://a.test?x=1', 'https://a.test#x', '');
    expect(read(baseUrls())('http://a:1, http://b:2/')).toEqual(['http://a:1', 'http://b:2']);
    refusedAll(baseUrls(), '', 'http://a:1,b');
  });

  it('connection URLs', () => {
    expect(read(connectionUrl('amqp', 'amqps'))('amqps://u:p@h')).toBe('amqps://u:p@h');
    refusedAll(connectionUrl('amqp', 'amqps'), 'http://h', 'amqp://', 'amqp:h');
  });

  it('keys of a length', () => {
    const key = randomBytes(32);
    expect([key.toString('base64'), key.toString('base64url')].map(read(base64Key(32)))).toEqual([key, key]);
    refusedAll(base64Key(32), randomBytes(31).toString('base64'), `${key.toString('base64')}AAAA`, 'not base64!', '');
  });

  it('signing keys, in PEM or base64', () => {
    const { privateKey, publicKey } = generateKeyPairSync('ed25519');
    const der = privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64');
    const pem = privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
    for (const text of [der, pem]) expect(signingKey().parse(text).equals(privateKey)).toBe(true);
    const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
    refusedAll(signingKey(), rsa, publicKey.export({ format: 'der', type: 'spki' }).toString('base64'), 'x', '');
  });

  it('takes master keys by name, the first one first', () => {
    const [one, two] = [randomBytes(32), randomBytes(32)];
    expect(sealKeys().parse(`k2=${two.toString('base64')}, k1=${one.toString('base64url')}`)).toEqual([
      { id: 'k2', key: two },
      { id: 'k1', key: one },
    ]);
    const text = one.toString('base64');
    refusedAll(sealKeys(), '', text, `k1=${text},`, `k1=${text},k1=${text}`, `k.1=${text}`, `k1=${randomBytes(31).toString('base64')}`);
  });

  it('public keys by caller, two of one while it changes its key', () => {
    const [one, two] = [generateKeyPairSync('ed25519').publicKey, generateKeyPairSync('ed25519').publicKey];
    const [first, second] = [one, two].map((key) => key.export({ format: 'der', type: 'spki' }).toString('base64'));
    const keys = callerKeys().parse(`gateway=${first}, operator=${second},gateway=${second}`);
    expect([...keys].map(([caller, { length }]) => [caller, length])).toEqual([
      ['gateway', 2],
      ['operator', 1],
    ]);
    expect(keys.get('gateway')?.[0]?.equals(one)).toBe(true);
    refusedAll(callerKeys(), '', 'gateway', `gateway=${first},`, 'gateway=AAAA', `Gateway=${first}`);
  });

  it('peers by address and network', () => {
    const peers = peerList().parse('10.0.0.0/8, 192.0.2.7,fd00::/8, ::1');
    expect(['10.1.2.3', '192.0.2.7', 'fd12::1', '::1', '::ffff:10.1.2.3'].map((address) => peers.has(address))).toEqual([
      true,
      true,
      true,
      true,
      true,
    ]);
    expect(['11.0.0.1', '192.0.2.8', 'fe80::1', '::2', '', 'x', '10.1.2.3.evil.test'].some((address) => peers.has(address))).toBe(false);
    expect(peerList().parse('').has('127.0.0.1')).toBe(false);
    refusedAll(peerList(), '10.0.0.0/33', 'a.test', '10.0.0', '::/129', '10.0.0.0/x');
  });
});
