import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';

export interface Arrived {
  readonly deliveryId: string;
  readonly bubbleId: string;
}

/** Takes deliveries on loopback and says yes to each. */
export interface HookReceiver {
  readonly url: string;
  readonly arrived: readonly Arrived[];
  close(): Promise<void>;
}

export const hookReceiver = async (): Promise<HookReceiver> => {
  const arrived: Arrived[] = [];
  const server = createServer(async (req, res) => {
    const sent = await text(req).catch(() => null);
    // Its sender was killed over it.
    if (sent === null) return;
    const body = JSON.parse(sent);
    arrived.push({ deliveryId: String(req.headers['x-service-delivery']), bubbleId: body.data.bubble.id });
    res.writeHead(204).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the receiver does not listen');
  return {
    url: `http://127.0.0.1:${address.port}/hook`,
    arrived,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};
