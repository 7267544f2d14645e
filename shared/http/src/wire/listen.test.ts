import { createServer, type Server } from 'node:net';
import { rawExchange } from '@bubbles/testing/raw-http.ts';
import { afterEach, describe, expect, it } from '@jest/globals';
import { type HeldPort, holdPort, listen } from './listen.ts';

const LOCAL = { host: '127.0.0.1', port: 0 };
/** Enough that some ports, were they let go, would be given out twice in all but one of a few hundred runs. */
const MANY = 300;

describe('a port that is held', () => {
  const servers: Server[] = [];
  const ports: HeldPort[] = [];
  afterEach(async () => {
    for (const { release } of ports.splice(0)) release();
    for (const server of servers.splice(0)) await new Promise((resolve) => server.close(resolve));
  });
  const hold = async (address = LOCAL) => {
    const held = await holdPort(address);
    ports.push(held);
    return held;
  };
  const listenOn = (port: number) => {
    const server = createServer((socket) => socket.end('here'));
    servers.push(server);
    return listen(server, { ...LOCAL, port });
  };

  it('refuses connections until somebody listens there, who may as soon as he names it', async () => {
    const { port, release } = await hold();
    const url = `http://127.0.0.1:${port}`;
    expect(await rawExchange(url, '')).toBe('');
    expect(await listenOn(port)).toBe(port);
    release();
    expect(await rawExchange(url, '')).toBe('here');
  });

  it('is given to nobody who asks for any', async () => {
    for (let n = 0; n < MANY; n += 1) await hold();
    expect(new Set(ports.map(({ port }) => port)).size).toBe(MANY);
  });

  it('that somebody has is refused, and so is one of an address that is not here', async () => {
    const port = await listenOn(0);
    await expect(holdPort({ ...LOCAL, port })).rejects.toMatchObject({ code: 'EADDRINUSE' });
    await expect(holdPort({ host: '203.0.113.1', port: 0 })).rejects.toMatchObject({ code: 'EADDRNOTAVAIL' });
  });
});
