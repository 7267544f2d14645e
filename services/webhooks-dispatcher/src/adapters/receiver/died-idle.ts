import type { Socket } from 'node:net';

/** The errors of sockets that had served before and died with no byte of the answer to what was written last: the receiver had closed them while they were idle. */
export type DiedIdle = WeakSet<Error>;

/** From when the socket is connected on, so that of TLS no byte of the handshake counts. */
export function noteDeath(socket: Socket, diedIdle: DiedIdle): void {
  const write = socket.write.bind(socket);
  let readBefore = 0;
  socket.write = (...written: unknown[]): boolean => {
    readBefore = socket.bytesRead;
    return Reflect.apply(write, socket, written);
  };
  socket.on('error', (error) => readBefore > 0 && socket.bytesRead === readBefore && diedIdle.add(error));
}
