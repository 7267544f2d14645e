import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { type Address, listen } from './listen.ts';

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
