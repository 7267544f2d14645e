import type { Server } from 'node:net';

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
