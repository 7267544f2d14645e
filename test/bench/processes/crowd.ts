import { connect } from 'node:net';
import { serveParent, tellParent } from '../harness/in-child.ts';
import { openConnection } from './raw-connection.ts';

/** Many connections that each asked once and then keep silent, or many requests whose senders leave at once. */
export type CrowdTask =
  | { readonly kind: 'idle'; readonly origin: string; readonly path: string; readonly connections: number }
  | { readonly kind: 'aborted'; readonly origin: string; readonly path: string; readonly requests: number };

const AT_ONCE = 50;

const request = (origin: string, path: string): Buffer => Buffer.from(`GET ${path} HTTP/1.1\r\nHost: ${new URL(origin).host}\r\n\r\n`);

/** How often in all, and how many at a time. */
const repeat = async (count: number, work: (n: number) => Promise<void>): Promise<void> => {
  let next = 0;
  const drive = async () => {
    while (next < count) {
      next += 1;
      await work(next);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, drive));
};

const open = ({ origin, path, connections }: Extract<CrowdTask, { kind: 'idle' }>): Promise<void> =>
  repeat(connections, async () => {
    await openConnection(origin).send(request(origin, path));
  });

/** Sends, and leaves after none to two turns of the event loop. */
const abort = (origin: string, head: Buffer, turns: number): Promise<void> => {
  const { hostname, port } = new URL(origin);
  const { promise, resolve } = Promise.withResolvers<void>();
  const socket = connect({ host: hostname, port: Number(port) });
  const leave = (left: number): void => {
    if (left === 0) socket.resetAndDestroy();
    else setImmediate(leave, left - 1);
  };
  socket.on('connect', () => socket.write(head, () => leave(turns)));
  socket.on('error', () => undefined);
  socket.on('close', () => resolve());
  return promise;
};

const abortAll = ({ origin, path, requests }: Extract<CrowdTask, { kind: 'aborted' }>): Promise<void> => {
  const head = request(origin, path);
  return repeat(requests, (n) => abort(origin, head, n % 3));
};

serveParent((task: CrowdTask) => (task.kind === 'idle' ? open(task) : abortAll(task)).then(() => null));
tellParent({});
