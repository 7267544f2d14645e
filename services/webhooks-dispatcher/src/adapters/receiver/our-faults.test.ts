import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { addressPolicy } from '@bubbles/address-guard/public-address.ts';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Receiver } from '../../ports.ts';
import { createReceiver } from './receiver.ts';

let server: Server;
let url: URL;
let requests = 0;
beforeAll(async () => {
  server = createServer((_request, response) => {
    requests += 1;
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // A listening TCP server has an address of this form.
  url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
});
afterAll(() => new Promise((resolve) => server.close(resolve)));

let made: Receiver | null = null;
afterEach(async () => {
  await made?.close();
  made = null;
});

const unasked = () => Promise.reject(new Error('the DNS is not asked'));
/** A receiver at which something of ours fails when it is about to dial. */
const failing = (error: Error | null = null): Receiver => {
  const mayDial = () => {
    if (error !== null) throw error;
    return true;
  };
  made = createReceiver({
    policy: { addresses: { ...addressPolicy({ allow: [], deny: [] }), mayDial }, http: true, loopback: false },
    resolver: { resolve4: unasked, resolve6: unasked },
    connectMs: 5000,
    deadlineMs: 5000,
    extraCa: [],
    elapsed: () => performance.now(),
    connections: 1,
  });
  return made;
};
const coded = (code: string, fields: object = {}) => Object.assign(new Error(code), { code, ...fields });
const post = (to: Receiver, headers: Readonly<Record<string, string>> = {}) => to.post({ url, headers, body: Buffer.from('{}') });

describe('DLV-04 what fails on our side before the request is sent', () => {
  it.each(['café 🎈', 'a\r\nX-Evil: 1', 'a\u0000'])(
    '[DLV-04] a header value %j that HTTP refuses is no outcome of the receiver',
    async (value) => {
      await expect(post(failing(), { 'user-agent': value })).rejects.toMatchObject({ code: 'UND_ERR_INVALID_ARG' });
      expect(requests).toBe(0);
    },
  );

  it('[DLV-04] a fault of the program is none, and is told as it is', async () => {
    const fault = new TypeError('x is not a function');
    await expect(post(failing(fault))).rejects.toBe(fault);
  });

  it.each([coded('EMFILE'), coded('ENFILE'), coded('ENOBUFS')])(
    '[DLV-04] a machine without room for another connection makes everybody wait: %s',
    async (fault) => {
      await expect(post(failing(fault))).rejects.toMatchObject({ kind: 'unavailable', cause: fault });
    },
  );

  it('[GEN-14] no port left for one address makes nobody else wait', async () => {
    const fault = coded('EADDRNOTAVAIL', { address: '93.184.216.34' });
    await expect(post(failing(fault))).rejects.toBe(fault);
  });

  it('[DLV-04] an IPv6 address where there is no IPv6 is out of reach', async () => {
    for (const fault of [coded('EADDRNOTAVAIL', { address: '2606:2800:220:1::1' }), coded('EAFNOSUPPORT')])
      expect(await post(failing(fault))).toMatchObject({ outcome: 'connect', status: null });
  });

  it('[DLV-04] a dispatcher that stops is none', async () => {
    const to = failing();
    await to.close();
    await expect(post(to)).rejects.toMatchObject({ kind: 'unavailable' });
  });
});
