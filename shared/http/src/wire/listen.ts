import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

export interface Address {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
}

/** Resolves with the port on which it listens. */
export const listen = async (server: Server, { host, port }: Address): Promise<number> => {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject).listen(port, host, () => {
    server.off('error', reject);
    resolve();
  });
  await promise;
  const address = server.address();
  if (address === null || typeof address === 'string') throw new TypeError('The server listens on no port.');
  return address.port;
};

/** A port on which somebody will listen, and nobody does yet. */
export interface HeldPort {
  readonly port: number;
  /** When somebody listens on it, or nobody will. */
  release(): void;
}

/**
 * Makes sure that the port can be had. One that was given because it was free would be given to the next who asks as soon as it is let go of: so a
 * connection stands on it, for the system gives no such port away, and lets listen who names it.
 */
export const holdPort = async (address: Address): Promise<HeldPort> => {
  const server = createServer();
  const port = await listen(server, address);
  const standing = address.port === 0 ? await connectionTo(server, { ...address, port }) : null;
  server.close();
  return { port, release: () => standing?.resetAndDestroy() };
};

/** The end of it that stands on the server's port. Neither keeps the process alive. */
const connectionTo = async (server: Server, address: Address): Promise<Socket> => {
  const accepted = once(server, 'connection');
  const near = connect(address).on('error', () => undefined);
  const [far]: Socket[] = await accepted;
  if (far === undefined) throw new TypeError('A connection has no socket.');
  near.unref();
  return far.unref().on('error', () => undefined);
};
