import { connect, type Socket } from 'node:net';

/** A connection on which a test writes the very bytes. */
export interface RawConnection {
  readonly socket: Socket;
  write(bytes: string | Uint8Array): void;
  /** Everything that came until the other side closed. */
  readonly received: Promise<string>;
  /** Resolves as soon as what came so far matches. */
  receivedMatching(pattern: RegExp): Promise<string>;
}

export const rawConnection = (url: string): RawConnection => {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  const done = Promise.withResolvers<string>();
  const waiting = new Set<() => void>();
  let text = '';
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    text += chunk;
    for (const look of waiting) look();
  });
  // A reset is an end too: what matters is what came before it.
  socket.on('error', () => undefined).on('close', () => done.resolve(text));
  return {
    socket,
    write: (bytes) => void socket.write(bytes),
    received: done.promise,
    receivedMatching: (pattern) => {
      const { promise, resolve, reject } = Promise.withResolvers<string>();
      const look = () => {
        if (!pattern.test(text)) return;
        waiting.delete(look);
        resolve(text);
      };
      waiting.add(look);
      void done.promise.then(() => reject(new Error(`closed before ${pattern} came: ${text}`)));
      look();
      return promise;
    },
  };
};

/** Writes and answers all that came until the other side closed. */
export const rawExchange = (url: string, bytes: string | Uint8Array): Promise<string> => {
  const connection = rawConnection(url);
  connection.write(bytes);
  return connection.received;
};
