import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { startMailServer } from '../test/mail-server.ts';
import { aMail, closing, sendingTo, uncut } from '../test/sending.ts';

const SHORT = { connectMs: 200, greetingMs: 200, silenceMs: 200, mailMs: 2000 };

/** A server on loopback that does what it is told with each connection. */
const rawServer = async (serve: (socket: Socket) => void): Promise<{ readonly server: Server; readonly port: number }> => {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    serve(socket);
  });
  await once(server.listen(0, 'localhost'), 'listening');
  closing(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  // It listens on a port.
  return { server, port: (server.address() as AddressInfo).port };
};

describe('a mail server that is not there', () => {
  it('refuses connections', async () => {
    const { port, close } = await startMailServer();
    await close();
    await expect(sendingTo({ port }).deliver(aMail(), uncut)).rejects.toMatchObject({ reason: 'unreachable', status: null });
  });

  it('has a name that nobody knows', async () => {
    await expect(sendingTo({ host: 'mail.invalid', port: 25 }).deliver(aMail(), uncut)).rejects.toMatchObject({
      reason: expect.stringMatching(/^(unreachable|timeout)$/),
    });
  });

  it('accepts connections and says nothing', async () => {
    const { port } = await rawServer(() => undefined);
    await expect(sendingTo({ port, limits: SHORT }).deliver(aMail(), uncut)).rejects.toMatchObject({ reason: 'timeout' });
  });

  it('falls silent in the middle', async () => {
    const { port } = await rawServer((socket) => socket.write('220 hello\r\n'));
    await expect(sendingTo({ port, limits: SHORT }).deliver(aMail(), uncut)).rejects.toMatchObject({ reason: 'timeout' });
  });

  it('trickles its greeting for ever', async () => {
    const { port } = await rawServer((socket) => {
      const timer = setInterval(() => socket.write('220-wait\r\n'), 20);
      socket.on('close', () => clearInterval(timer));
    });
    const limits = { connectMs: 5000, greetingMs: 5000, silenceMs: 5000, mailMs: 300 };
    await expect(sendingTo({ port, limits }).deliver(aMail(), uncut)).rejects.toMatchObject({ reason: 'timeout' });
  });

  it('speaks another protocol', async () => {
    const { port } = await rawServer((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
    await expect(sendingTo({ port }).deliver(aMail(), uncut)).rejects.toMatchObject({ name: 'MailFailure' });
  });

  it('hangs up at once, and is reached when it is back', async () => {
    let away = true;
    const { port } = await rawServer((socket) => {
      if (away) socket.destroy();
      else socket.write('421 soon\r\n');
    });
    const transport = sendingTo({ port });
    await expect(transport.deliver(aMail(), uncut)).rejects.toMatchObject({ reason: 'unreachable' });
    away = false;
    await expect(transport.deliver(aMail(), uncut)).rejects.toMatchObject({ status: 421 });
  });

  it('is let go when the attempt is cut off', async () => {
    const { port } = await rawServer(() => undefined);
    const cutting = new AbortController();
    const delivery = sendingTo({ port }).deliver(aMail(), cutting.signal);
    cutting.abort();
    await expect(delivery).rejects.toMatchObject({ name: 'MailFailure' });
  });
});
