import { createServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, isIP, type Server } from 'node:net';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { DomainError } from '@bubbles/kernel/errors.ts';
import { testData } from '@bubbles/testing/test-data.ts';
import { afterEach, describe, expect, it } from '@jest/globals';
import { bare, type DestinationPolicy } from './destination-url.ts';
import { addressesOf, guardedConnect } from './guarded-connect.ts';
import { addressPolicy } from './public-address.ts';
import type { Resolver } from './resolver.ts';

interface Records {
  readonly A?: string[];
  readonly AAAA?: string[];
}
interface Case {
  readonly url: string;
  readonly accept: boolean;
  /** What the name resolves to; several: at one connect after the other. */
  readonly dns?: Records | Records[];
}
// The file's shape is fixed beside it.
const cases = JSON.parse(testData('receiver-urls.json')) as Case[];

const production: DestinationPolicy = { addresses: addressPolicy({ allow: [], deny: [] }), http: false, loopback: false };
const loopbackToo: DestinationPolicy = { ...production, addresses: addressPolicy({ allow: ['127.0.0.1/32'], deny: [] }) };
const noRecord = () => Promise.reject(Object.assign(new Error('no record'), { code: 'ENODATA' }));
const resolving = ({ A, AAAA }: Records): Resolver => ({
  resolve4: () => (A ? Promise.resolve(A) : noRecord()),
  resolve6: () => (AAAA ? Promise.resolve(AAAA) : noRecord()),
});

/** The addresses that would be dialled for a name, or why none is. */
const lookedUp = (url: string, records: Records): Promise<string[] | string> =>
  Array.fromAsync(addressesOf(new URL(url).hostname, { policy: production, resolver: resolving(records), sleep })).catch((error) =>
    String(error.code),
  );

/** For a connect that waits until it is over. */
const SOON_MS = 600;
/** For one that ends by itself, however slow the machine is. */
const LATE_MS = 10_000;

interface Dialling {
  readonly policy?: DestinationPolicy;
  readonly resolver?: Resolver;
  readonly extraCa?: readonly string[];
  readonly connectMs?: number;
}
/** `connected`, or the code of the error. */
const dialled = (
  url: URL,
  { policy = production, resolver = resolving({ A: ['127.0.0.1'] }), extraCa = [], connectMs = LATE_MS }: Dialling = {},
): Promise<string> =>
  new Promise((resolve) => {
    const connect = guardedConnect({ policy, resolver, connectMs, extraCa }, () => undefined);
    connect({ hostname: url.hostname, host: url.host, protocol: url.protocol, port: url.port }, (error, socket) => {
      socket?.destroy();
      resolve(error === null ? 'connected' : String('code' in error ? error.code : error));
    });
  });

const open: Server[] = [];
const listen = async (server: Server): Promise<number> => {
  open.push(server);
  server.on('connection', (socket) => socket.on('error', () => null));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // A listening TCP server has an address of this form.
  return (server.address() as AddressInfo).port;
};
afterEach(() => {
  for (const server of open.splice(0)) server.close();
});

describe('HOOK-10 receiver addresses at every connect', () => {
  const named = cases.flatMap(({ url, accept, dns = [] }) =>
    [dns].flat().map((records, n, all) => ({ url, records, accept: accept || n < all.length - 1 })),
  );
  it('has all handed names', () => expect(named.length).toBeGreaterThan(40));

  it.each(named)('[HOOK-10] $url, resolving to $records', async ({ url, records, accept }) => {
    const found = await lookedUp(url, records);
    if (!accept) return expect(found).toBe(Object.keys(records).length === 0 ? 'ENOTFOUND' : 'BLOCKED_ADDRESS');
    const isPublic = (address: string) => production.addresses.mayDial(address);
    const [four, six] = [(records.A ?? []).filter(isPublic), (records.AAAA ?? []).filter(isPublic)];
    expect(found).toHaveLength(four.length + six.length);
    expect(found.length).toBeGreaterThan(0);
    expect(new Set(found)).toEqual(new Set([...four, ...six]));
  });

  const literals = cases.filter(({ url, accept }) => !accept && URL.canParse(url)).map(({ url }) => new URL(url));
  it.each(literals.filter(({ protocol, hostname }) => protocol === 'https:' && isIP(bare(hostname)) !== 0 && !isPublicLiteral(hostname)))(
    '[HOOK-10] the literal of %s, though nobody had judged it before',
    async (url) => expect(await dialled(url)).toBe('BLOCKED_ADDRESS'),
  );

  it.each(['127.0.0.1', 'localhost'])('[HOOK-10] %s is not dialled where it is exempt and an operator denies it', async (host) => {
    const url = new URL(`http://${host}:${await listen(createTcpServer())}/`);
    const exempt = (deny: readonly string[]) => ({
      policy: { ...production, loopback: true, addresses: addressPolicy({ allow: [], deny }) },
    });
    expect(await dialled(url, exempt([]))).toBe('connected');
    expect(await dialled(url, exempt(['127.0.0.0/8', '::1/128']))).toBe('BLOCKED_ADDRESS');
  });

  it('[HOOK-10] what the product itself listens on is not dialled, by whatever name', async () => {
    const [own, other] = [await listen(createTcpServer()), await listen(createTcpServer())];
    const policy = { ...loopbackToo, loopback: true, ownPorts: () => new Set([own]) };
    for (const host of ['127.0.0.1', 'localhost', 'hook.example.com']) {
      expect(await dialled(new URL(`http://${host}:${own}/`), { policy })).toBe('BLOCKED_ADDRESS');
      expect(await dialled(new URL(`http://${host}:${other}/`), { policy })).toBe('connected');
    }
  });

  it('[HOOK-10] of an exempt host only the addresses that nobody denies are dialled', async () => {
    const policy = { ...production, loopback: true, addresses: addressPolicy({ allow: [], deny: ['127.0.0.0/8'] }) };
    const unasked = () => Promise.reject(new Error('the DNS is not asked'));
    const resolver = { resolve4: unasked, resolve6: unasked };
    expect(await Array.fromAsync(addressesOf('localhost', { policy, resolver, sleep }))).toEqual(['::1']);
  });

  it('[HOOK-10] what is dialled is what was judged: a name is looked up once for a connect', async () => {
    const port = await listen(createTcpServer());
    let asked = 0;
    const resolver: Resolver = {
      resolve4: () => {
        asked += 1;
        return Promise.resolve([asked === 1 ? '127.0.0.1' : '127.0.0.2']);
      },
      resolve6: noRecord,
    };
    const connect = guardedConnect({ policy: loopbackToo, resolver, connectMs: LATE_MS, extraCa: [] }, () => undefined);
    const address = await new Promise((resolve) => {
      connect({ hostname: 'rebind.example.com', protocol: 'http:', port: String(port) }, (_error, socket) => {
        resolve(socket?.remoteAddress);
        socket?.destroy();
      });
    });
    expect([address, asked]).toEqual(['127.0.0.1', 1]);
  });
});

/** Refused for its spelling alone, which is gone once it is parsed. */
function isPublicLiteral(hostname: string): boolean {
  return production.addresses.mayDial(bare(hostname));
}

describe('name servers', () => {
  const silent = () => new Promise<string[]>(() => null);
  const port = () => listen(createTcpServer());
  const dialledWith = async (resolver: Resolver, rest: Omit<Dialling, 'resolver'> = {}) =>
    dialled(new URL(`http://hook.example.com:${await port()}/`), { policy: loopbackToo, resolver, ...rest });

  it('[DLV-04] one that keeps silent about a family holds up the other for a moment only', async () => {
    expect(await dialledWith({ resolve4: () => Promise.resolve(['127.0.0.1']), resolve6: silent })).toBe('connected');
    const six = { ...production, addresses: addressPolicy({ allow: ['::1/128'], deny: [] }) };
    expect(await dialledWith({ resolve4: silent, resolve6: () => Promise.resolve(['::1']) }, { policy: six })).toBe('ECONNREFUSED');
  });

  it('[DLV-04] addresses that may not be dialled are not enough, and wait for the others', async () => {
    const resolve4 = () => Promise.resolve(['10.0.0.1']);
    expect(await dialledWith({ resolve4, resolve6: silent }, { connectMs: SOON_MS })).toBe('UND_ERR_CONNECT_TIMEOUT');
    expect(await dialledWith({ resolve4, resolve6: noRecord })).toBe('BLOCKED_ADDRESS');
  });

  it.each([
    ['ESERVFAIL', 'EAI_AGAIN'],
    ['ECONNREFUSED', 'EAI_AGAIN'],
    ['ETIMEOUT', 'EAI_AGAIN'],
    ['ENOTFOUND', 'ENOTFOUND'],
  ])('[DLV-04] %s of one family is told as %s, and only when the other has no address', async (code, told) => {
    const resolve6 = () => Promise.reject(Object.assign(new Error('fault'), { code }));
    expect(await dialledWith({ resolve4: noRecord, resolve6 })).toBe(told);
    expect(await dialledWith({ resolve4: () => Promise.resolve([]), resolve6 })).toBe(told);
    expect(await dialledWith({ resolve4: () => Promise.resolve(['127.0.0.1']), resolve6 })).toBe('connected');
  });

  it('[DLV-04] that are away are told as that, when nobody has an address', async () => {
    const away = () => Promise.reject(new DomainError('unavailable', 'away'));
    expect(await dialledWith({ resolve4: away, resolve6: away })).toBe('DomainError: away');
    expect(await dialledWith({ resolve4: noRecord, resolve6: away })).toBe('DomainError: away');
    expect(await dialledWith({ resolve4: () => Promise.resolve(['127.0.0.1']), resolve6: away })).toBe('connected');
  });

  it('[DLV-04] a name without any address is one that does not exist', async () => {
    expect(await dialledWith({ resolve4: () => Promise.resolve([]), resolve6: () => Promise.resolve([]) })).toBe('ENOTFOUND');
  });
});

describe('addresses of a name', () => {
  const [V4, V6] = [
    ['93.184.216.34', '93.184.216.35', '93.184.216.36'],
    ['2606:2800:220:1::1', '2606:2800:220:1::2'],
  ];
  /** Of a sleep only the number is kept; it ends when the test says so. */
  const found = (resolver: Resolver, pause = () => new Promise(() => null)) => {
    const addresses = addressesOf('hook.example.com', { policy: production, resolver, sleep: pause });
    return async () => (await addresses.next()).value;
  };

  it('[DLV-04] the families come in turn, IPv6 first', async () => {
    const next = found(resolving({ A: V4, AAAA: V6 }));
    const order = [V6[0], V4[0], V6[1], V4[1], V4[2], undefined];
    for (const address of order) expect(await next()).toBe(address);
  });

  it('[DLV-04] IPv6 waits for nobody; IPv4 waits for it a moment, and what comes later has its turn', async () => {
    const [slow4, slow6] = [Promise.withResolvers<string[]>(), Promise.withResolvers<string[]>()];
    const six = found({ resolve4: () => slow4.promise, resolve6: () => Promise.resolve([...V6]) });
    expect(await six()).toBe(V6[0]);
    slow4.resolve([...V4]);
    await setImmediate();
    for (const address of [V4[0], V6[1], V4[1]]) expect(await six()).toBe(address);

    const pause = Promise.withResolvers<void>();
    const four = found({ resolve4: () => Promise.resolve([...V4]), resolve6: () => slow6.promise }, () => pause.promise);
    const first = four();
    pause.resolve();
    expect(await first).toBe(V4[0]);
    slow6.resolve([...V6]);
    await setImmediate();
    for (const address of [V6[0], V4[1], V6[1]]) expect(await four()).toBe(address);
  });
});

describe('TLS', () => {
  const served = () => listen(createServer({ cert: testData('certificates/receiver.pem'), key: testData('certificates/receiver.key') }));
  const receiverAt = (port: number) => new URL(`https://receiver.example.com:${port}/`);

  it('[DLV-04] authorities that an operator adds stand beside the built-in ones', async () => {
    const port = await served();
    const [another, known] = [testData('certificates/stranger.pem'), testData('certificates/ca.pem')];
    const trusting = { policy: loopbackToo, extraCa: [another] };
    expect(await dialled(receiverAt(port), trusting)).toMatch(/^UNABLE_TO_/);
    expect(await dialled(receiverAt(port), { ...trusting, extraCa: [another, known] })).toBe('connected');
    const builtIn = getCACertificates('default');
    setDefaultCACertificates([...builtIn, known]);
    try {
      expect(await dialled(receiverAt(port), trusting)).toBe('connected');
    } finally {
      setDefaultCACertificates(builtIn);
    }
  });

  it('[DLV-04] a connection that breaks in the handshake is told at once', async () => {
    for (const end of ['resetAndDestroy', 'end'] as const) {
      const port = await listen(createTcpServer((socket) => socket.once('data', () => socket[end]())));
      expect(await dialled(receiverAt(port), { policy: loopbackToo })).toBe('ECONNRESET');
    }
  });

  it('[DLV-04] a handshake that never comes ends with the time to connect', async () => {
    const port = await listen(createTcpServer());
    expect(await dialled(receiverAt(port), { policy: loopbackToo, connectMs: SOON_MS })).toBe('UND_ERR_CONNECT_TIMEOUT');
  });
});
