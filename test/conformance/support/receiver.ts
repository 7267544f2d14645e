import { createHmac, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';

export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** The very bytes. */
  readonly body: Buffer;
  // biome-ignore lint/suspicious/noExplicitAny: the body of a delivery is what is under test
  readonly json: any;
}

/** Somebody's webhook receiver on this machine. */
export interface Receiver {
  readonly url: string;
  /** What came, in the order of arrival. */
  readonly received: Received[];
  /** How it answers from now on: with a status, or in its own way. */
  answer(how: number | ((res: ServerResponse) => void)): void;
  /** Resolves when that many have come. */
  reached(count: number): Promise<void>;
  close(): Promise<void>;
}

export interface Certificate {
  readonly key: string;
  readonly cert: string;
}

/** Over https, by the name of the certificate, when there is one. */
export async function startReceiver(certificate: Certificate | null = null): Promise<Receiver> {
  let how: number | ((res: ServerResponse) => void) = 200;
  const received: Received[] = [];
  const waiting = new Set<() => void>();
  const take: RequestListener = (req, res) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => {
      const body = Buffer.concat(chunks);
      received.push({ path: req.url ?? '', headers: req.headers, body, json: JSON.parse(body.toString()) });
      for (const look of waiting) look();
      if (typeof how === 'number') res.writeHead(how).end();
      else how(res);
    });
  };
  const server = certificate === null ? createServer(take) : createTlsServer(certificate, take);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // It listens on a port.
  return {
    url: certificate === null ? `http://127.0.0.1:${port}/hook` : `https://localhost:${port}/hook`,
    received,
    answer: (next) => {
      how = next;
    },
    reached(count) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const look = () => {
        if (received.length >= count) resolve();
      };
      waiting.add(look);
      look();
      return promise.finally(() => waiting.delete(look));
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const SIGNATURE = /^t=(\d+),v1=([0-9a-f]{64})$/;

/** The time that a delivery was signed at, unix seconds, as a receiver proves it by the interface alone; null when the signature is not good. */
export function signedAt({ headers, body }: Received, secret: string): number | null {
  const [, t, v1 = ''] = SIGNATURE.exec(String(headers['x-service-signature'])) ?? [];
  const expected = createHmac('sha256', secret)
    .update(Buffer.concat([Buffer.from(`${t}.`), body]))
    .digest();
  return t !== undefined && timingSafeEqual(expected, Buffer.from(v1, 'hex')) ? Number(t) : null;
}
