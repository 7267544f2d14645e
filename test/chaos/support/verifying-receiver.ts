import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A receiver that keeps no body, and knows how often each delivery came. */
export interface VerifyingReceiver {
  readonly url: string;
  /** POSTs by delivery id. */
  readonly posts: ReadonlyMap<string, number>;
  /** Those whose signature was wrong. */
  forged(): number;
  close(): Promise<void>;
}

const ANSWER_AFTER_MS = 5;

export const startVerifyingReceiver = async (secret: string): Promise<VerifyingReceiver> => {
  const posts = new Map<string, number>();
  let forged = 0;
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray().catch(() => []));
    const id = String(request.headers['x-service-delivery']);
    posts.set(id, (posts.get(id) ?? 0) + 1);
    const [, t, v1] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(request.headers['x-service-signature'])) ?? [];
    if (createHmac('sha256', secret).update(`${t}.`).update(body).digest('hex') !== v1) forged += 1;
    setTimeout(() => response.writeHead(204).end(), ANSWER_AFTER_MS);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // A listening TCP server has an address of this form.
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/in`,
    posts,
    forged: () => forged,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};
