import { Agent, request } from 'node:http';
import type { FuzzRequest } from './requests.ts';

export interface Exchanged {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

/** Where the machine is busy with others, the second for the check of a credential may pass; asked again, the answer must come. */
export async function asked<A extends { readonly status: number; readonly headers: Headers | Exchanged['headers'] }>(
  ask: () => Promise<A>,
): Promise<A> {
  const first = await ask();
  const reason = new Headers(first.headers).get('x-gateway-reason');
  return first.status === 500 && reason === 'upstream-timeout' ? ask() : first;
}

/** Nothing may hang: longer than the gateway's own limit for an answer to begin. */
const PATIENCE_MS = 15_000;

/** One connection for all, on which targets and headers go out as they are. */
export function exchanger(baseUrl: string): { send(what: FuzzRequest): Promise<Exchanged>; close(): void } {
  const agent = new Agent({ keepAlive: true, maxSockets: 4 });
  const { hostname, port } = new URL(baseUrl);
  return {
    send({ operation: { method }, target, headers, body }) {
      const { promise, resolve, reject } = Promise.withResolvers<Exchanged>();
      const length = body === null ? {} : { 'content-length': String(Buffer.byteLength(body)) };
      const options = {
        agent,
        hostname,
        port,
        method,
        path: target,
        headers: { ...headers, ...length },
        signal: AbortSignal.timeout(PATIENCE_MS),
      };
      const sending = request(options, (answer) => {
        const chunks: Buffer[] = [];
        answer.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', reject);
        answer.on('end', () => {
          const lines = Object.entries(answer.headers).map(([name, value]) => [name, String(value)]);
          resolve({ status: answer.statusCode ?? 0, headers: Object.fromEntries(lines), text: Buffer.concat(chunks).toString() });
        });
      });
      sending.on('error', reject).end(body ?? undefined);
      return promise;
    },
    close: () => agent.destroy(),
  };
}
