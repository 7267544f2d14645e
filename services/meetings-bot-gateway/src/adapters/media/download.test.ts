import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { addressPolicy } from '@bubbles/address-guard/public-address.ts';
import type { Resolver } from '@bubbles/address-guard/resolver.ts';
import { afterEach, describe, expect, it } from '@jest/globals';
import type { MediaFile } from '../../ports.ts';
import { createDownloads } from './download.ts';

const KEY = { authorization: 'Token secret' };
const VIDEO = { 'content-type': 'video/mp4' };
const MAX_BYTES = 1_000_000;
const FILE = Buffer.from(Array.from({ length: 200_000 }, (_, n) => n % 251));
const MP4 = Buffer.from('000000186674797069736f6d', 'hex');

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const thing of open.splice(0)) await thing.close();
});

interface Provider {
  readonly url: string;
  readonly requests: IncomingMessage[];
}

const serve = async (handler: RequestListener): Promise<Provider> => {
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    handler(request, response);
  });
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => sockets.add(socket.on('error', () => null)));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  open.push({
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  });
  // A listening TCP server has an address of this form.
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests };
};

interface Setting {
  readonly allow?: readonly string[];
  readonly resolver?: Resolver;
  readonly idleMs?: number;
}

const noRecord = () => Promise.reject(Object.assign(new Error('no record'), { code: 'ENODATA' }));
const LOOPBACK: Resolver = { resolve4: () => Promise.resolve(['127.0.0.1']), resolve6: noRecord };

const openWith = ({ allow = ['127.0.0.0/8'], resolver = LOOPBACK, idleMs = 10_000 }: Setting = {}) => {
  const policy = { addresses: addressPolicy({ allow, deny: [] }), http: true, loopback: false };
  const made = createDownloads({ policy, resolver, extraCa: [], maxBytes: MAX_BYTES, idleMs });
  open.push(made);
  return made;
};
const downloadsWith = (setting?: Setting) => openWith(setting).download;
const documentsWith = (setting?: Setting) => openWith(setting).downloadDocument;

const bytesOf = async ({ bytes }: MediaFile): Promise<Buffer> => Buffer.concat(await Array.fromAsync(bytes));
const read = async (url: string, setting?: Setting): Promise<Buffer> => bytesOf(await downloadsWith(setting)(url, KEY));
const faultOf = (work: Promise<unknown>) =>
  work.then(
    () => 'downloaded',
    (error) => `${error.kind} ${error.reason}`,
  );

describe('a link of a provider', () => {
  it('is opened with the headers of its provider', async () => {
    const { url, requests } = await serve((_request, response) => response.writeHead(200, VIDEO).end(FILE));
    const file = await downloadsWith()(`${url}/a.mp4?sig=%2F`, KEY);
    expect([file.contentType, file.length]).toEqual(['video/mp4', null]);
    expect(await bytesOf(file)).toEqual(FILE);
    expect(requests.map(({ method, url: path, headers }) => [method, path, headers.authorization, headers['accept-encoding']])).toEqual([
      ['GET', '/a.mp4?sig=%2F', KEY.authorization, 'identity'],
    ]);
  });

  it.each([
    ['video/webm; codecs="vp8,opus"', FILE, 'video/webm'],
    ['Audio/MPEG', FILE, 'audio/mpeg'],
    ['application/octet-stream', MP4, 'video/mp4'],
    ['binary/octet-stream', Buffer.from('1a45dfa3a3428681', 'hex'), 'video/webm'],
    ['', Buffer.from('OggS0000'), 'audio/ogg'],
  ])('is of the type that its server or its first bytes say: %s', async (contentType, body, expected) => {
    const { url } = await serve((_request, response) => response.writeHead(200, { 'content-type': contentType }).end(body));
    expect(await downloadsWith()(url)).toMatchObject({ contentType: expected });
  });

  it.each([
    ['the page of a firewall', 403, { 'content-type': 'text/html' }, '<html>', 'transient media_http_403'],
    ['a page that is no refusal', 200, { 'content-type': 'text/html' }, '<html>', 'transient media_type'],
    ['a page under the name of a video', 200, VIDEO, '\n <!doctype html>', 'transient media_type'],
    ['an error as JSON', 200, { 'content-type': 'application/json' }, '{"error":1}', 'transient media_type'],
    ['bytes that nobody knows', 200, { 'content-type': 'application/octet-stream' }, 'nobody knows', 'transient media_type'],
    ['no byte', 200, VIDEO, '', 'transient media_empty'],
    ['a compressed file', 200, { ...VIDEO, 'content-encoding': 'gzip' }, 'x', 'transient media_encoded'],
    ['an expired link', 404, VIDEO, 'x', 'transient media_http_404'],
    ['a part that was not asked for', 206, VIDEO, 'x', 'transient media_http_206'],
    ['more than the limit, as it says', 200, { ...VIDEO, 'content-length': '1000001' }, '', 'permanent media_too_large'],
  ])('is refused that gives %s', async (_what, status, headers, body, fault) => {
    const { url } = await serve((_request, response) => response.writeHead(status, headers).end(body));
    expect(await faultOf(read(url))).toBe(fault);
  });

  it('says when to come again', async () => {
    const { url } = await serve((_request, response) => response.writeHead(429, { 'retry-after': '17' }).end());
    await expect(downloadsWith()(url)).rejects.toMatchObject({ kind: 'transient', retryAfterSeconds: 17 });
  });

  it('is not read further than the limit when it has no end', async () => {
    const closed = Promise.withResolvers<void>();
    const { url } = await serve((_request, response) => {
      response.writeHead(200, VIDEO).on('close', () => closed.resolve());
      const pour = () => {
        while (!response.destroyed && response.write(FILE));
      };
      response.on('drain', pour);
      pour();
    });
    expect(await faultOf(read(url))).toBe('permanent media_too_large');
    await closed.promise;
  });

  it('ends at once when its reader leaves', async () => {
    const closed = Promise.withResolvers<void>();
    const { url } = await serve((_request, response) => {
      response.writeHead(200, VIDEO).on('close', () => closed.resolve());
      response.write(FILE);
    });
    const { bytes } = await downloadsWith()(url);
    const iterator = bytes[Symbol.asyncIterator]();
    const isMore = async (): Promise<void> => ((await iterator.next()).done ? undefined : isMore());
    const fault = faultOf(isMore());
    await iterator.return?.();
    expect(await fault).toBe('transient media_unreachable');
    await closed.promise;
  });
});

describe('a document of a provider', () => {
  it('is fetched with the same guard, whatever it is called', async () => {
    const { url, requests } = await serve((_request, response) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end('[{}]'),
    );
    const file = await documentsWith()(url, KEY);
    expect([file.contentType, (await bytesOf(file)).toString()]).toEqual(['application/json', '[{}]']);
    expect(requests[0]?.headers).toMatchObject({ ...KEY, accept: expect.stringContaining('application/json') });
    expect(await faultOf(documentsWith({ allow: [] })(url))).toBe('transient media_blocked');
  });
});

describe('a slow provider', () => {
  const trickle = (response: ServerResponse) => {
    const timer = setInterval(() => response.write('x'), 20);
    response.on('close', () => clearInterval(timer));
  };

  it('that says nothing is left', async () => {
    const { url } = await serve(() => undefined);
    expect(await faultOf(read(url, { idleMs: 300 }))).toBe('transient media_unreachable');
  });

  it('that sends byte by byte is left', async () => {
    const { url, requests } = await serve((_request, response) => trickle(response.writeHead(200, VIDEO)));
    expect(await faultOf(read(url, { idleMs: 300 }))).toBe('transient media_too_slow');
    expect(requests).toHaveLength(1);
  });
});

describe('an address that no provider may lead to', () => {
  it.each([
    'http://169.254.169.254/latest/meta-data/',
    'http://[::ffff:127.0.0.1]/x',
    'http://[::1]/x',
    'http://2130706433/x',
    'http://0x7f.1/x',
    'http://localhost/x',
    'http://metadata.google.internal/x',
    'http://user@127.0.0.1/x',
    'file:///etc/passwd',
    'not a link',
    '',
  ])('is not dialled: %s', async (link) => {
    expect(await faultOf(downloadsWith({ allow: [] })(link))).toBe('transient media_blocked');
  });

  it('is not dialled when a redirect leads there', async () => {
    const inside = await serve((_request, response) => response.writeHead(200, VIDEO).end(FILE));
    const { url, requests } = await serve((_request, response) =>
      response.writeHead(302, { location: inside.url.replace('127.0.0.1', '127.0.0.2') }).end(),
    );
    expect(await faultOf(read(url, { allow: ['127.0.0.1/32'] }))).toBe('transient media_blocked');
    expect([requests.length, inside.requests.length]).toEqual([1, 0]);
  });

  it('is not dialled when a name resolves to it at the second look', async () => {
    const inside = await serve((_request, response) => response.writeHead(200, VIDEO).end(FILE));
    let looks = 0;
    const rebinding: Resolver = {
      resolve4() {
        looks += 1;
        return Promise.resolve([looks === 1 ? '127.0.0.1' : '127.0.0.2']);
      },
      resolve6: noRecord,
    };
    const setting = { allow: ['127.0.0.1/32'], resolver: rebinding };
    const download = downloadsWith(setting);
    const link = inside.url.replace('127.0.0.1', 'media.example.com');
    expect(await bytesOf(await download(link))).toEqual(FILE);
    expect(await faultOf(download(link))).toBe('transient media_blocked');
    expect(inside.requests).toHaveLength(1);
  });
});

describe('a redirect', () => {
  it('is followed, with the headers of the provider to its own origin only', async () => {
    const other = await serve((_request, response) => response.writeHead(200, VIDEO).end(FILE));
    const { url, requests } = await serve(({ url: path }, response) =>
      response.writeHead(path === '/a' ? 307 : 302, { location: path === '/a' ? '/b' : `${other.url}/c` }).end(),
    );
    expect(await read(`${url}/a`)).toEqual(FILE);
    const seen = [...requests, ...other.requests].map(({ url: path, headers }) => [path, headers.authorization ?? null]);
    expect(seen).toEqual([
      ['/a', KEY.authorization],
      ['/b', KEY.authorization],
      ['/c', null],
    ]);
  });

  it('is followed five times', async () => {
    const { url, requests } = await serve((_request, response) => response.writeHead(301, { location: '/again' }).end());
    expect(await faultOf(read(url))).toBe('transient media_redirects');
    expect(requests).toHaveLength(6);
  });
});

describe('a transfer that breaks', () => {
  const HALF = FILE.length / 2;
  const whole = { ...VIDEO, 'content-length': String(FILE.length), etag: '"v1"' };
  const breaking = (response: ServerResponse, headers: Record<string, string> = whole) => {
    response.writeHead(200, headers).write(FILE.subarray(0, HALF), () => setImmediate(() => response.destroy()));
  };
  const rest = (from: number) => ({ ...VIDEO, etag: '"v1"', 'content-range': `bytes ${from}-${FILE.length - 1}/${FILE.length}` });

  it('goes on where it was, of the same file', async () => {
    const { url, requests } = await serve(({ headers: { range } }, response) => {
      const from = Number(/^bytes=(\d+)-$/.exec(range ?? '')?.[1] ?? 0);
      if (from === 0) breaking(response);
      else response.writeHead(206, rest(from)).end(FILE.subarray(from));
    });
    expect(await read(url)).toEqual(FILE);
    expect(requests.map(({ headers }) => [headers['if-range'], headers.authorization])).toEqual([
      [undefined, KEY.authorization],
      ['"v1"', KEY.authorization],
    ]);
  });

  it('goes on after its provider was away', async () => {
    let answers = 0;
    const { url } = await serve(({ headers: { range } }, response) => {
      answers += 1;
      const from = Number(/^bytes=(\d+)-$/.exec(range ?? '')?.[1] ?? 0);
      if (from === 0) breaking(response);
      else if (answers < 4) response.destroy();
      else response.writeHead(206, rest(from)).end(FILE.subarray(from));
    });
    expect(await read(url)).toEqual(FILE);
    expect(answers).toBe(4);
  });

  it.each([
    ['gives the whole again', 200, whole],
    ['gives another file', 206, { ...rest(HALF), etag: '"v2"' }],
    ['gives one of another length', 206, { ...rest(HALF), 'content-range': `bytes ${HALF}-${FILE.length}/${FILE.length + 1}` }],
    ['gives another part', 206, { ...rest(HALF), 'content-range': `bytes 0-${HALF}/${FILE.length}` }],
    ['gives a part of the rest', 206, { ...rest(HALF), 'content-range': `bytes ${HALF}-${HALF + 9}/${FILE.length}` }],
    ['refuses the link', 403, VIDEO],
  ])('is begun again by who asked, when its provider %s', async (_what, status, headers) => {
    const { url } = await serve(({ headers: { range } }, response) => {
      if (range === undefined) breaking(response);
      else response.writeHead(status, headers).end(FILE.subarray(HALF));
    });
    expect(await faultOf(read(url))).toMatch(/^transient media_/);
  });

  it('of an unknown length is not taken for the end', async () => {
    const { url } = await serve((_request, response) => breaking(response, VIDEO));
    expect(await faultOf(read(url))).toBe('transient media_unreachable');
  });
});
