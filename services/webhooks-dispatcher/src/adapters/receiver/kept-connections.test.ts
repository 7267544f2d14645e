import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { addressPolicy } from '@bubbles/address-guard/public-address.ts';
import { testData } from '@bubbles/testing/test-data.ts';
import { afterEach, describe, expect, it } from '@jest/globals';
import { createReceiver } from './receiver.ts';

const NAME = 'receiver.example.com';
const pem = (name: string) => testData(`certificates/${name}`);
const CERTIFICATE = { cert: pem('receiver.pem'), key: pem('receiver.key') };
const HEAD = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n';

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const thing of open.splice(0)) await thing.close();
});

type Protocol = 'http' | 'https';
type Behaviour = (socket: Socket, wire: Socket) => unknown;

/** Does to each connection what is said of its first request and of those after it; counts requests and connections. */
const receiving = async (protocol: Protocol, first: Behaviour, later: Behaviour) => {
  const seen = { requests: 0, connections: 0 };
  /** Below TLS. */
  let wire: Socket;
  const serve = (socket: Socket) => {
    seen.connections += 1;
    let turn = 0;
    socket.on('error', () => null);
    socket.on('data', () => {
      seen.requests += 1;
      turn += 1;
      if (turn === 1) first(socket, wire);
      else later(socket, wire);
    });
  };
  const server: Server = protocol === 'https' ? createTlsServer(CERTIFICATE, serve) : createServer(serve);
  server.prependListener('connection', (socket: Socket) => {
    wire = socket.on('error', () => null);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const to = createReceiver({
    policy: { addresses: addressPolicy({ allow: ['127.0.0.0/8'], deny: [] }), http: true, loopback: false },
    resolver: { resolve4: () => Promise.resolve(['127.0.0.1']), resolve6: () => Promise.resolve([]) },
    connectMs: 10_000,
    deadlineMs: 10_000,
    extraCa: [pem('ca.pem')],
    elapsed: () => performance.now(),
    connections: 1,
  });
  open.push(to, server);
  // A listening TCP server has an address of this form.
  const { port } = server.address() as AddressInfo;
  const post = () => to.post({ url: new URL(`${protocol}://${NAME}:${port}/`), headers: {}, body: Buffer.from('{"n":1}') });
  return { seen, post };
};

/** Answers the first request of each connection and does to the second what is said. */
const secondTime = async (protocol: Protocol, behave: Behaviour) => {
  const { seen, post } = await receiving(protocol, (socket) => socket.write(HEAD), behave);
  expect(await post()).toMatchObject({ outcome: '2xx' });
  return { seen, post };
};

/** Later, so that what was written before goes out. */
const ends: readonly (readonly [string, Behaviour])[] = [
  ['a reset', (_socket, wire) => setTimeout(() => wire.resetAndDestroy(), 30)],
  ['an end', (socket) => setTimeout(() => socket.end(), 30)],
];
const everyEnd = (['http', 'https'] as const).flatMap((protocol) => ends.map(([name, end]) => [protocol, name, end] as const));

describe('a kept connection', () => {
  it.each(everyEnd)(
    '[DLV-04] over %s that is closed by %s before any byte of the answer costs no attempt',
    async (protocol, _name, end) => {
      const { seen, post } = await secondTime(protocol, end);
      expect(await post()).toMatchObject({ outcome: '2xx' });
      expect(seen).toEqual({ requests: 3, connections: 2 });
    },
  );

  it.each(everyEnd)(
    '[DLV-04] over %s that is closed by %s within the head of the answer is a failed attempt',
    async (protocol, _name, end) => {
      const { seen, post } = await secondTime(protocol, (socket, wire) => {
        socket.write('HTTP/1.1 200 OK\r\nContent-Le');
        end(socket, wire);
      });
      expect(await post()).toMatchObject({ outcome: 'reset', status: null });
      expect(seen).toEqual({ requests: 2, connections: 1 });
    },
  );

  it('[DLV-04] that is closed after an interim answer is a failed attempt', async () => {
    const { seen, post } = await secondTime('http', (socket) => socket.end('HTTP/1.1 103 Early Hints\r\n\r\n'));
    expect(await post()).toMatchObject({ outcome: 'reset', status: null });
    expect(seen.requests).toBe(2);
  });

  it('[DLV-04] that says nothing until the deadline is a failed attempt', async () => {
    const { seen, post } = await secondTime('http', () => null);
    expect(await post()).toMatchObject({ outcome: 'timeout', status: null });
    expect(seen.requests).toBe(2);
  });
});

describe('a fresh connection', () => {
  it.each(everyEnd)(
    '[DLV-04] over %s that is closed by %s before any byte of the answer gets one POST in the attempt',
    async (protocol, _name, end) => {
      const { seen, post } = await receiving(protocol, end, end);
      expect(await post()).toMatchObject({ outcome: 'reset', status: null });
      expect(seen).toEqual({ requests: 1, connections: 1 });
    },
  );
});
