import { createSocket, type Socket } from 'node:dgram';
import { promises as dns } from 'node:dns';
import { afterEach, describe, expect, it } from '@jest/globals';
import { nameServers } from './resolver.ts';

const open: Socket[] = [];
afterEach(() => {
  for (const socket of open.splice(0)) socket.close();
});

const ROOT = '.';
const NAME = 'hook.example.com';
type Answer = 'servfail' | 'refused' | 'truncated';
/** Of a header: that it is an answer, cut off or not, and its code. */
const HEADERS: Readonly<Record<Answer, readonly [number, number]>> = {
  servfail: [0x81, 0x82],
  refused: [0x81, 0x85],
  truncated: [0x83, 0x80],
};
const HEADER_BYTES = 12;

/** A name server over UDP alone; at a port at which nobody listens, when it has no answers. */
const nameServer = async (answers: { readonly root: Answer; readonly name: Answer } | null): Promise<string> => {
  const socket = createSocket('udp4');
  socket.on('message', (query, { port, address }) => {
    const [first, second] = HEADERS[query[HEADER_BYTES] === 0 ? (answers?.root ?? 'servfail') : (answers?.name ?? 'servfail')];
    const answer = Buffer.from(query);
    answer[2] = first;
    answer[3] = second;
    socket.send(answer, port, address);
  });
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  const { port } = socket.address();
  if (answers === null) await new Promise<void>((resolve) => socket.close(resolve));
  else open.push(socket);
  return `127.0.0.1:${port}`;
};
/** What a look-up ends with that the servers do not answer well. */
const faultOf = (...servers: readonly string[]) => {
  const resolver = new dns.Resolver({ timeout: 5000, tries: 1 });
  resolver.setServers(servers);
  const { resolve4, resolve6 } = nameServers(resolver);
  return Promise.all([resolve4, resolve6].map((resolve) => resolve(NAME).catch(({ kind, code }) => kind ?? code)));
};
const both = (fault: string) => [fault, fault];

describe('our name servers', () => {
  it('[DLV-04] are away when all of them refuse to be asked', async () => {
    expect(await faultOf(await nameServer(null))).toEqual(both('unavailable'));
    expect(await faultOf(await nameServer(null), await nameServer(null))).toEqual(both('unavailable'));
  });

  it.each([
    ['servfail', 'ESERVFAIL'],
    ['refused', 'EREFUSED'],
  ] as const)('[DLV-04] are there when one of them answers %s', async (name, code) => {
    expect(await faultOf(await nameServer(null), await nameServer({ root: 'servfail', name }))).toEqual(both(code));
  });

  it('[DLV-04] are there when only what the name has is too much for them', async () => {
    expect(await faultOf(await nameServer({ root: 'servfail', name: 'truncated' }))).toEqual(both('ECONNREFUSED'));
  });

  it('are asked of the root only when they refused to be asked of the name', async () => {
    const asked: string[] = [];
    const answering = (code: string) =>
      nameServers({
        resolve4: () => Promise.reject(Object.assign(new Error('fault'), { code })),
        resolve6: () => Promise.resolve(['2001:db8::1']),
        resolveSoa(name) {
          asked.push(name);
          return Promise.reject(Object.assign(new Error('fault'), { code: 'ESERVFAIL' }));
        },
      });
    for (const code of ['ENOTFOUND', 'ETIMEOUT', 'ESERVFAIL']) await expect(answering(code).resolve4(NAME)).rejects.toMatchObject({ code });
    expect(await answering('ECONNREFUSED').resolve6(NAME)).toEqual(['2001:db8::1']);
    expect(asked).toEqual([]);
    await expect(answering('ECONNREFUSED').resolve4(NAME)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    expect(asked).toEqual([ROOT]);
  });
});
