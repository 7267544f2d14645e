import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { serveParent, tellParent } from '../harness/in-child.ts';

/** What one caller does to all others; `end` lets go of it. */
export type FloodTask =
  | { readonly kind: 'unread answers'; readonly origin: string; readonly path: string; readonly token: string; readonly requests: number }
  | { readonly kind: 'half-sent bodies'; readonly origin: string; readonly path: string; readonly connections: number }
  | { readonly kind: 'at once'; readonly origin: string; readonly path: string; readonly tokens: readonly string[]; readonly each: number }
  | { readonly kind: 'unknown tokens'; readonly origin: string; readonly path: string; readonly connections: number }
  | { readonly kind: 'end' };

const HALF_BODY = 32 * 1024;

const sockets = new Set<Socket>();

const opened = async (origin: string): Promise<Socket> => {
  const { hostname, port } = new URL(origin);
  const socket = connect({ host: hostname, port: Number(port) });
  sockets.add(socket);
  socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
  await once(socket, 'connect');
  return socket;
};

/** All over one connection, and no answer is ever read. */
const leaveUnread = async ({ origin, path, token, requests }: Extract<FloodTask, { kind: 'unread answers' }>): Promise<void> => {
  const socket = await opened(origin);
  socket.pause();
  socket.write(`GET ${path} HTTP/1.1\r\nHost: ${new URL(origin).host}\r\nAuthorization: Bearer ${token}\r\n\r\n`.repeat(requests));
};

/** Without a credential; every connection that is closed is opened again. */
const sendHalf = async (task: Extract<FloodTask, { kind: 'half-sent bodies' }>): Promise<void> => {
  const half = 'x'.repeat(HALF_BODY);
  const head = `POST ${task.path} HTTP/1.1\r\nHost: ${new URL(task.origin).host}\r\nContent-Length: ${2 * HALF_BODY}\r\n\r\n`;
  const open = async (): Promise<void> => {
    const socket = await opened(task.origin);
    socket.resume().write(head + half);
    socket.on('close', () => flooding && void open());
  };
  await Promise.all(Array.from({ length: task.connections }, open));
};

const requestOf = (origin: string, path: string, token: string): string =>
  `GET ${path} HTTP/1.1\r\nHost: ${new URL(origin).host}\r\nAuthorization: Bearer ${token}\r\n\r\n`;

/** How many requests each caller sends, each over a connection of its own. */
const askAtOnce = async ({ origin, path, tokens, each }: Extract<FloodTask, { kind: 'at once' }>): Promise<void> => {
  const open = async (token: string): Promise<void> => {
    (await opened(origin)).resume().write(requestOf(origin, path, token));
  };
  await Promise.all(tokens.flatMap((token) => Array.from({ length: each }, () => open(token))));
};

/** A token that nobody has with every request; each refusal is answered by the next one. */
const guessTokens = async ({ origin, path, connections }: Extract<FloodTask, { kind: 'unknown tokens' }>): Promise<void> => {
  let guesses = 0;
  const open = async (): Promise<void> => {
    const socket = await opened(origin);
    const guess = () => {
      guesses += 1;
      if (flooding) socket.write(requestOf(origin, path, `svc_pat_guess${guesses}`));
    };
    socket.on('data', guess);
    guess();
  };
  await Promise.all(Array.from({ length: connections }, open));
};

let flooding = false;

const start = (task: Exclude<FloodTask, { kind: 'end' }>): Promise<void> => {
  flooding = true;
  switch (task.kind) {
    case 'unread answers':
      return leaveUnread(task);
    case 'half-sent bodies':
      return sendHalf(task);
    case 'at once':
      return askAtOnce(task);
    case 'unknown tokens':
      return guessTokens(task);
  }
};

const end = (): Promise<void> => {
  flooding = false;
  for (const socket of sockets) socket.destroy();
  return Promise.resolve();
};

serveParent((task: FloodTask) => (task.kind === 'end' ? end() : start(task)).then(() => null));
tellParent({});
