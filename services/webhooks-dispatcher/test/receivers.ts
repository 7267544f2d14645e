import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

export interface Received {
  readonly headers: IncomingHttpHeaders;
  /** Their names, written as they came. */
  readonly headerNames: readonly string[];
  /** The very bytes. */
  readonly body: Buffer;
}

/** A status, or what to do with the response; a promise is waited for by nobody. */
export type Behaviour = number | ((response: ServerResponse, received: Received) => unknown);

/** Somebody's receiver on this machine. */
export interface TestReceiver {
  readonly url: string;
  readonly received: readonly Received[];
  /** Of the deliveries that came, in order, repetitions included. */
  ids(): string[];
  /** From now on. */
  answer(behaviour: Behaviour): void;
  /** Resolves when this number has come. */
  reached(count: number): Promise<void>;
  close(): Promise<void>;
}

export const deliveryIdOf = ({ headers }: Received): string => String(headers['x-service-delivery']);

export const startReceiver = async (first: Behaviour = 204): Promise<TestReceiver> => {
  let behaviour = first;
  const received: Received[] = [];
  const waiters = new Set<() => void>();
  const server = createServer(async (request, response) => {
    const body = await buffer(request).catch(() => null);
    // The attempt was over before it had come whole.
    if (body === null) return;
    const got = { headers: request.headers, headerNames: request.rawHeaders.filter((_, n) => n % 2 === 0), body };
    received.push(got);
    for (const look of waiters) look();
    if (typeof behaviour === 'number') response.writeHead(behaviour).end();
    else behaviour(response, got);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // A listening TCP server has an address of this form.
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/in`,
    received,
    ids: () => received.map(deliveryIdOf),
    answer: (next) => {
      behaviour = next;
    },
    async reached(count) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const look = () => received.length >= count && resolve();
      waiters.add(look);
      look();
      await promise;
      waiters.delete(look);
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};
