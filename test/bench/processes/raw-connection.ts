import { connect, type Socket } from 'node:net';

/** One kept connection that speaks just enough HTTP/1.1 to cost next to nothing. */
export interface RawConnection {
  /** Status 0 when the connection broke; the next request goes over a new one. */
  send(request: Buffer): Promise<RawAnswer>;
  close(): void;
}

export interface RawAnswer {
  readonly status: number;
  /** Of the body. */
  readonly bytes: number;
}

const HEAD_END = Buffer.from('\r\n\r\n');
const LAST_CHUNK = Buffer.from('0\r\n\r\n');
const STATUS_AT = 9;
const BROKEN: RawAnswer = { status: 0, bytes: 0 };

interface Reading {
  /** What has come of a head that is not complete. */
  head: Buffer;
  status: number;
  bytes: number;
  /** Of the body; null while the head is read, -1 when the body is chunked. */
  left: number | null;
  closes: boolean;
}

const fresh = (): Reading => ({ head: Buffer.alloc(0), status: 0, bytes: 0, left: null, closes: false });

/** What follows the head, or null when it is not complete yet. */
const readHead = (reading: Reading, chunk: Buffer): Buffer | null => {
  reading.head = reading.head.length === 0 ? chunk : Buffer.concat([reading.head, chunk]);
  const end = reading.head.indexOf(HEAD_END);
  if (end === -1) return null;
  const text = reading.head.toString('latin1', 0, end).toLowerCase();
  reading.status = Number(text.slice(STATUS_AT, STATUS_AT + 3));
  reading.closes = text.includes('\r\nconnection: close');
  const length = /\r\ncontent-length: (\d+)/.exec(text)?.[1];
  const empty = reading.status === 204 || reading.status === 304;
  reading.left = empty ? 0 : length === undefined ? -1 : Number(length);
  return reading.head.subarray(end + HEAD_END.length);
};

/** True when the answer is complete. */
const take = (reading: Reading, chunk: Buffer): boolean => {
  const body = reading.left === null ? readHead(reading, chunk) : chunk;
  if (body === null || reading.left === null) return false;
  reading.bytes += body.length;
  if (reading.left === -1) return body.subarray(-LAST_CHUNK.length).equals(LAST_CHUNK);
  reading.left -= body.length;
  return reading.left <= 0;
};

export const openConnection = (origin: string): RawConnection => {
  const { hostname, port } = new URL(origin);
  let socket: Socket | null = null;
  let reading = fresh();
  let settle: (answer: RawAnswer) => void = () => undefined;

  const open = (): Socket => {
    const opened = connect({ host: hostname, port: Number(port), noDelay: true });
    opened.on('data', (chunk: Buffer) => {
      if (!take(reading, chunk)) return;
      const { status, bytes, closes } = reading;
      if (closes) drop(opened);
      settle({ status, bytes });
    });
    opened.on('error', () => opened.destroy());
    opened.on('close', () => {
      if (socket !== opened) return;
      socket = null;
      settle(BROKEN);
    });
    return opened;
  };
  const drop = (opened: Socket) => {
    if (socket === opened) socket = null;
    opened.destroy();
  };

  return {
    send: (request) => {
      const { promise, resolve } = Promise.withResolvers<RawAnswer>();
      settle = resolve;
      reading = fresh();
      socket ??= open();
      socket.write(request);
      return promise;
    },
    close: () => {
      socket?.destroy();
    },
  };
};
