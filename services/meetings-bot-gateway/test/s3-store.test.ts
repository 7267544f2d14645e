import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { AwsV4Signer } from 'aws4fetch';
import { createS3Store } from '../src/adapters/media/s3-store.ts';
import { aFile } from './builders.ts';
import { describeMediaStore } from './media-store.contract.ts';
import { CREDENTIALS, signatureOf, startS3 } from './s3-gate.ts';

const KEY = 'c3'.repeat(32);
const never = new AbortController().signal;
let s3: Awaited<ReturnType<typeof startS3>>;
const open: { close(): Promise<void> }[] = [];
beforeAll(async () => {
  s3 = await startS3();
});
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
  s3.refuse = () => false;
  s3.uploads.clear();
  s3.requests.length = 0;
});
afterAll(() => s3.stop());

const make = (fields: Partial<Parameters<typeof createS3Store>[0]> = {}) => {
  const store = createS3Store({
    ...CREDENTIALS,
    endpoint: s3.endpoint,
    pathStyle: true,
    maxBytes: 10_000,
    singleBytes: 1000,
    partBytes: 10,
    ...fields,
  });
  open.push(store);
  return store;
};

for (const [how, partBytes] of [
  ['in parts', 4],
  ['whole', 1000],
] as const)
  describeMediaStore(`S3, of unknown lengths ${how}`, async () => {
    const store = make({ partBytes });
    for (const key of ['a1', 'b2']) await store.remove(key.repeat(32));
    return { store, read: s3.read, leftovers: () => Promise.resolve([...s3.uploads.keys()]) };
  });

describe('signatures', () => {
  const KEYS = { accessKeyId: 'AKIAIOSFODNN7EXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY' };
  const host = 'https://examplebucket.s3.amazonaws.com';
  const EMPTY = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
  const PUT = {
    date: 'Fri, 24 May 2013 00:00:00 GMT',
    'x-amz-storage-class': 'REDUCED_REDUNDANCY',
    'x-amz-content-sha256': '44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072',
  };

  // "Examples: Signature Calculations" of the API reference of Amazon S3.
  it.each([
    [
      'GET',
      '/test.txt',
      { range: 'bytes=0-9', 'x-amz-content-sha256': EMPTY },
      'f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
    ],
    ['PUT', '/test%24file.text', PUT, '98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd'],
    ['GET', '/?lifecycle', { 'x-amz-content-sha256': EMPTY }, 'fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543'],
    ['GET', '/?max-keys=2&prefix=J', { 'x-amz-content-sha256': EMPTY }, '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7'],
  ])("of %s %s is that of AWS's example", async (method, target, headers, signature) => {
    const time = '20130524T000000Z';
    const signer = new AwsV4Signer({
      ...KEYS,
      method,
      url: host + target,
      headers,
      service: 's3',
      region: 'us-east-1',
      datetime: time,
      allHeaders: true,
    });
    expect((await signer.sign()).headers.get('authorization')).toContain(`Signature=${signature}`);
    const sent = { host: 'examplebucket.s3.amazonaws.com', 'x-amz-date': time, ...headers };
    const signedHeaders = Object.keys(sent).toSorted();
    expect(signatureOf({ method, target, headers: sent, signedHeaders, region: 'us-east-1' }, KEYS.secretAccessKey)).toBe(signature);
  });

  it('that are wrong are refused, and nobody is told the secret', async () => {
    const store = make({ secretAccessKey: 'another secret' });
    const fault = await store.put(KEY, aFile(['x']), never).catch((error: unknown) => error);
    expect(fault).toMatchObject({ kind: 'unavailable', cause: { message: 'PUT: 403 SignatureDoesNotMatch' } });
  });
});

describe('an object store', () => {
  it('gets a file of a known length in one request, of an unknown one in parts', async () => {
    const store = make();
    await store.put(KEY, aFile(['12345', '67890', '12345'], { length: 15 }), never);
    expect(s3.requests.splice(0)).toEqual(['PUT /recordings/KEY']);
    await store.put(KEY, aFile(['12345', '6789012345', '12345']), never);
    expect(s3.requests.splice(0)).toEqual([
      'GET /recordings/?uploads=&prefix=KEY',
      'POST /recordings/KEY?uploads=',
      'PUT /recordings/KEY?partNumber=1&uploadId=ID',
      'PUT /recordings/KEY?partNumber=2&uploadId=ID',
      'POST /recordings/KEY?uploadId=ID',
    ]);
    expect((await s3.read(KEY))?.text).toBe('12345678901234512345');
  });

  it('gets a long file in parts although its length is known', async () => {
    const store = make({ singleBytes: 10 });
    await store.put(KEY, aFile(['x'.repeat(25)], { length: 25 }), never);
    expect(s3.requests.filter((line) => line.includes('partNumber'))).toHaveLength(3);
    expect((await s3.read(KEY))?.text).toBe('x'.repeat(25));
  });

  it('is asked again after faults that pass, part by part', async () => {
    let faults = 0;
    s3.refuse = ({ method }, response) => {
      faults += 1;
      if (faults % 2 === 0) return false;
      if (method === 'POST') response.destroy();
      else response.writeHead(503).end('<Error><Code>SlowDown</Code></Error>');
      return true;
    };
    await make().put(KEY, aFile(['x'.repeat(25)]), never);
    expect((await s3.read(KEY))?.text).toBe('x'.repeat(25));
    expect(s3.uploads.size).toBe(0);
  });

  it('that says at the end of an upload that it failed has kept nothing', async () => {
    const store = make();
    await store.remove(KEY);
    s3.refuse = ({ method, url = '' }, response) => {
      const isEnd = method === 'POST' && url.includes('uploadId');
      if (isEnd) response.writeHead(200).end('<?xml version="1.0"?>\n<Error><Code>InternalError</Code></Error>');
      return isEnd;
    };
    await expect(store.put(KEY, aFile(['x'.repeat(25)]), never)).rejects.toMatchObject({ kind: 'unavailable' });
    expect([await s3.read(KEY), s3.uploads.size]).toEqual([null, 0]);
  });

  it('is freed of the uploads of a process that died, by who writes the same file next', async () => {
    s3.uploads.set('dead', KEY).set('other', 'd4'.repeat(32));
    await make().put(KEY, aFile(['x'.repeat(25)]), never);
    expect([...s3.uploads.keys()]).toEqual(['other']);
    s3.uploads.set('dead', KEY);
    await make().remove(KEY);
    expect([...s3.uploads.keys()]).toEqual(['other']);
  });

  it('that cannot list uploads is written all the same', async () => {
    s3.refuse = ({ url = '' }, response) => {
      if (url.includes('prefix')) response.writeHead(501).end();
      return url.includes('prefix');
    };
    await make().put(KEY, aFile(['x'.repeat(25)]), never);
    expect((await s3.read(KEY))?.text).toBe('x'.repeat(25));
  });

  it('that is away is unavailable', async () => {
    const store = make({ endpoint: 'http://127.0.0.1:9' });
    await expect(store.put(KEY, aFile(['x']), never)).rejects.toMatchObject({ kind: 'unavailable' });
    await expect(store.put(KEY, aFile(['x'], { length: 1 }), never)).rejects.toMatchObject({ kind: 'unavailable' });
    await expect(store.remove(KEY)).rejects.toMatchObject({ kind: 'unavailable' });
  });

  it.each(['unknown', 'known', 'whole'])('takes 512 MiB of a length that is %s with less than 64 MiB more memory', async (length) => {
    // It takes all and keeps nothing: what is measured is the sender, in a process of its own.
    s3.refuse = (from, response) => {
      from.on('end', () => response.writeHead(200, { etag: '"x"' }).end('<r><UploadId>u1</UploadId></r>')).resume();
      return true;
    };
    const script = fileURLToPath(new URL('./put-large-file.ts', import.meta.url));
    const { stdout } = await promisify(execFile)(process.execPath, ['--expose-gc', script, s3.endpoint, '512', length]);
    expect(stdout).toMatch(/^-?\d+$/);
    expect(Number(stdout)).toBeLessThan(64);
  });
});
