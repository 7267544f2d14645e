import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A POST that came whole. */
export interface Arrival {
  readonly deliveryId: string;
  /** The last part of the path that it was sent to. */
  readonly subscriptionId: string;
  readonly bubbleId: string;
  /** The process that sent it. */
  readonly sender: string;
}

/** A receiver that keeps no body, and knows of each POST who sent it. */
export interface VerifyingReceiver {
  readonly url: string;
  readonly arrivals: readonly Arrival[];
  /** How many deliveries have come, however often. */
  readonly deliveries: number;
  /** Those whose signature was wrong. */
  readonly forged: number;
  /** POSTs that wait for their answer. */
  readonly held: number;
  /** What it says from now on. */
  answerWith(status: number): void;
  /** Stops answering after this number of further POSTs; answers the sender of the last one. */
  holdAfter(posts: number): Promise<string>;
  /** Answers what is held, and the rest. */
  release(): void;
  close(): Promise<void>;
}

const ANSWER_AFTER_MS = 5;
const SIGNATURE = /^t=(\d+),v1=([0-9a-f]{64})$/;

const isSigned = ({ headers }: IncomingMessage, body: Buffer, secret: string): boolean => {
  const [, t, v1] = SIGNATURE.exec(String(headers['x-service-signature'])) ?? [];
  return createHmac('sha256', secret).update(`${t}.`).update(body).digest('hex') === v1;
};

const arrivalOf = ({ headers, url }: IncomingMessage, body: Buffer): Arrival => ({
  deliveryId: String(headers['x-service-delivery']),
  subscriptionId: String(url?.split('/').at(-1)),
  bubbleId: JSON.parse(body.toString()).data.bubble.id,
  sender: String(headers['user-agent']),
});

/** Answers, or keeps for later. */
const answers = () => {
  const held: (() => void)[] = [];
  let hold: { after: number; readonly caught: (sender: string) => void } | null = null;
  let status = 204;
  return {
    held: () => held.length,
    become(next: number) {
      status = next;
    },
    holdAfter(after: number): Promise<string> {
      const { promise, resolve } = Promise.withResolvers<string>();
      hold = { after, caught: resolve };
      return promise;
    },
    give(response: ServerResponse, { sender }: Arrival) {
      const answer = () => setTimeout(() => response.writeHead(status).end(), ANSWER_AFTER_MS);
      if (hold !== null) hold.after -= 1;
      if (hold === null || hold.after > 0) return void answer();
      held.push(answer);
      hold.caught(sender);
    },
    release() {
      hold = null;
      for (const answer of held.splice(0)) answer();
    },
  };
};

/** Each subscription has its secret, by the last part of its path. */
export const startVerifyingReceiver = async (
  secretOf: (subscriptionId: string) => string,
  host = '127.0.0.1',
): Promise<VerifyingReceiver> => {
  const arrivals: Arrival[] = [];
  const ids = new Set<string>();
  const answer = answers();
  let forged = 0;
  const server = createServer({ keepAliveTimeout: 0 }, async (request, response) => {
    const parts = await request.toArray().catch(() => null);
    // Its sender was killed over it.
    if (parts === null) return;
    const body = Buffer.concat(parts);
    const arrival = arrivalOf(request, body);
    if (!isSigned(request, body, secretOf(arrival.subscriptionId))) forged += 1;
    arrivals.push(arrival);
    ids.add(arrival.deliveryId);
    answer.give(response, arrival);
  });
  server.listen(0, host);
  await once(server, 'listening');
  // A listening TCP server has an address of this form.
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${host}:${port}`,
    arrivals,
    get deliveries() {
      return ids.size;
    },
    get forged() {
      return forged;
    },
    get held() {
      return answer.held();
    },
    answerWith: answer.become,
    holdAfter: answer.holdAfter,
    release: answer.release,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};
