import type { Socket } from 'node:net';

/** The start of an answer's head, up to the last digit of its status. */
const CONTINUE = Buffer.from('HTTP/1.1 10');
const LAST_DIGIT = CONTINUE.length;
const [ZERO = 0, TWO = 0] = Buffer.from('02');
const END_OF_HEAD = '\r\n\r\n';

/** Whether a head may begin there: where the chunk does, or after another head. */
const mayBegin = (chunk: Buffer, at: number): boolean =>
  at === 0 || chunk.toString('latin1', Math.max(0, at - END_OF_HEAD.length), at) === END_OF_HEAD;

function renumber(chunk: Buffer): void {
  for (let at = chunk.indexOf(CONTINUE); at >= 0; at = chunk.indexOf(CONTINUE, at + 1))
    if (chunk[at + LAST_DIGIT] === ZERO && mayBegin(chunk, at)) chunk[at + LAST_DIGIT] = TWO;
}

/**
 * A client passes over every interim answer, also one that it did not ask for (RFC 9110, 15.2). undici does, but for 100 Continue, at which it ends the
 * connection: it is given 102 Processing instead. A status line that comes in two pieces is not seen; whoever sends one so is tried again.
 */
export function passOverContinue(socket: Socket): void {
  const read = socket.read.bind(socket);
  socket.read = (size?: number): unknown => {
    const chunk: unknown = read(size);
    if (Buffer.isBuffer(chunk)) renumber(chunk);
    return chunk;
  };
}
