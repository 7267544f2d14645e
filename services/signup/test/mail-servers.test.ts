import { createSocket, type Socket } from 'node:dgram';
import { promises as dns } from 'node:dns';
import { once } from 'node:events';
import { memoryLog } from '@bubbles/testing/memory-log.ts';
import { afterEach, describe, expect, it } from '@jest/globals';
import { Registry } from 'prom-client';
import { createMailServers } from '../src/adapters/domains/mail-servers.ts';

const TYPES = { A: 1, MX: 15, AAAA: 28 } as const;
type RecordType = keyof typeof TYPES;
const HEADER_BYTES = 12;
const NXDOMAIN = 3;
const SERVFAIL = 2;

/** What a name server says of each type of record: the data of a record, or a code; nothing where it is silent. */
type Zone = Partial<Record<RecordType, Buffer | 'none' | number>>;

const exchange = (...labels: readonly string[]): Buffer =>
  Buffer.concat([
    Buffer.from([0, 10]),
    ...labels.map((label) => Buffer.concat([Buffer.from([label.length]), Buffer.from(label)])),
    Buffer.from([0]),
  ]);

/** RFC 1035, 4.1: the question again, with one record or none. */
const answerTo = (query: Buffer, said: Buffer | 'none' | number): Buffer => {
  const end = query.indexOf(0, HEADER_BYTES) + 5;
  const answer = Buffer.from(query.subarray(0, end));
  const hasRecord = typeof said === 'object';
  answer.writeUInt16BE(0x8180 | (typeof said === 'number' ? said : 0), 2);
  [1, hasRecord ? 1 : 0, 0, 0].forEach((count, at) => void answer.writeUInt16BE(count, 4 + 2 * at));
  if (!hasRecord) return answer;
  const head = Buffer.alloc(HEADER_BYTES);
  head.writeUInt16BE(0xc000 | HEADER_BYTES, 0);
  answer.copy(head, 2, end - 4, end);
  head.writeUInt16BE(said.length, 10);
  return Buffer.concat([answer, head, said]);
};

const open: Socket[] = [];
afterEach(() => {
  for (const socket of open.splice(0)) socket.close();
});

/** For a resolver that waits in vain. */
const BRIEF_MS = 200;
/** For one that is answered, on a slow machine too. */
const LONG_MS = 5000;

/** Asks a name server on loopback with the resolver of production. */
const resultOf = async (zone: Zone, patienceMs: number, timeLimitMs = LONG_MS): Promise<string> => {
  const socket = createSocket('udp4');
  open.push(socket);
  socket.on('message', (query, { port, address }) => {
    const type = query.readUInt16BE(query.indexOf(0, HEADER_BYTES) + 1);
    const [name] = Object.entries(TYPES).find(([, number]) => number === type) ?? [];
    // It is the name of a type or undefined, which no zone has.
    const said = zone[name as RecordType];
    if (said !== undefined) socket.send(answerTo(query, said), port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const servers = new dns.Resolver({ timeout: patienceMs, tries: 1 });
  servers.setServers([`127.0.0.1:${socket.address().port}`]);
  return createMailServers({ log: memoryLog(), registry: new Registry(), servers, timeLimitMs }).of('example.com');
};

describe('a name server that is asked for the mail server of a domain', () => {
  it.each<[string, Zone, string, number?]>([
    ['an exchange', { MX: exchange('mx', 'example', 'com') }, 'present'],
    ['that no mail is taken (RFC 7505)', { MX: exchange(), A: Buffer.from([192, 0, 2, 1]) }, 'absent'],
    ['an address alone', { MX: 'none', A: Buffer.from([192, 0, 2, 1]), AAAA: 'none' }, 'present'],
    ['an IPv6 address alone', { MX: 'none', A: 'none', AAAA: Buffer.from('20010db8000000000000000000000001', 'hex') }, 'present'],
    ['nothing', { MX: 'none', A: 'none', AAAA: 'none' }, 'absent'],
    ['that there is no such domain', { MX: NXDOMAIN, A: NXDOMAIN, AAAA: NXDOMAIN }, 'absent'],
    ['that it has failed', { MX: SERVFAIL }, 'unknown'],
    ['no word', {}, 'unknown', BRIEF_MS],
    ['half of it', { MX: 'none', A: 'none' }, 'unknown', BRIEF_MS],
  ])('[SIGN-02] says %s', async (_, zone, result, patienceMs = LONG_MS) => {
    expect(await resultOf(zone, patienceMs)).toBe(result);
  });

  it('[SIGN-02] and is silent for longer than the time limit is not waited for', async () => {
    expect(await resultOf({}, BRIEF_MS, 20)).toBe('unknown');
  });
});
