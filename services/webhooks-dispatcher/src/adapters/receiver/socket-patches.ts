import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** The status line of an interim answer up to the last digit of its status; `d` is any digit. */
const INTERIM = 'HTTP/1.d 1dd';
const FIRST_DIGIT = INTERIM.length - 3;
const [CR, LF, ZERO = 0, TWO = 0] = Buffer.from('\r\n02');

const fits = (byte: number, at: number): boolean => {
  const text = String.fromCharCode(byte);
  return INTERIM[at] === 'd' ? /\d/.test(text) : INTERIM[at] === text;
};

/**
 * Tracks where in an answer the bytes are: in a status line, in the rest of the head of an interim answer, or past all interim answers, where bytes are no
 * longer read. They may arrive in chunks of any size.
 */
function interimAnswers() {
  let state: 'status line' | 'interim head' | 'past' = 'past';
  let at = 0;
  let isContinue = true;
  let lineLength = 0;

  /** Returns the byte that takes its place. */
  const ofStatusLine = (byte: number): number => {
    if (at === 0 && (byte === CR || byte === LF)) return byte;
    if (!fits(byte, at)) state = 'past';
    if (at > FIRST_DIGIT) isContinue &&= byte === ZERO;
    at += 1;
    if (state === 'past' || at < INTERIM.length) return byte;
    state = 'interim head';
    lineLength = at;
    return isContinue ? TWO : byte;
  };
  const ofInterimHead = (byte: number): void => {
    if (byte === LF && lineLength === 0) begin();
    else if (byte === LF) lineLength = 0;
    else if (byte !== CR) lineLength += 1;
  };
  const begin = () => {
    state = 'status line';
    at = 0;
    isContinue = true;
  };
  return {
    begin,
    renumber(chunk: Buffer) {
      for (let n = 0; n < chunk.length && state !== 'past'; n += 1) {
        const byte = chunk[n] ?? 0;
        if (state === 'status line') chunk[n] = ofStatusLine(byte);
        else ofInterimHead(byte);
      }
    },
  };
}

/**
 * A client skips every interim answer, also one that it did not ask for (RFC 9110, 15.2). undici does, except for 100 Continue, at which it closes the
 * connection (https://github.com/nodejs/undici/issues/197), so it is shown 102 Processing instead. A write starts a request, and so a new answer: there is
 * one request on a connection at a time.
 */
export function passOverContinue(socket: Duplex): void {
  const answers = interimAnswers();
  const [read, write] = [socket.read.bind(socket), socket.write.bind(socket)];
  socket.write = (...written: unknown[]): boolean => {
    answers.begin();
    return Reflect.apply(write, socket, written);
  };
  socket.read = (size?: number): unknown => {
    const chunk: unknown = read(size);
    if (Buffer.isBuffer(chunk)) answers.renumber(chunk);
    return chunk;
  };
}

/**
 * Knows the errors of sockets that had served before and died with no byte of the answer to what was written last: the receiver had closed them while they
 * were idle. undici neither retries these nor tells them apart (https://github.com/nodejs/undici/issues/3492).
 */
export function idleDeaths() {
  const errors = new WeakSet<Error>();
  return {
    /** To be called when the socket is connected, so that no byte of a TLS handshake counts. */
    watch(socket: Socket): void {
      const write = socket.write.bind(socket);
      let readBefore = 0;
      socket.write = (...written: unknown[]): boolean => {
        readBefore = socket.bytesRead;
        return Reflect.apply(write, socket, written);
      };
      socket.on('error', (error) => readBefore > 0 && socket.bytesRead === readBefore && errors.add(error));
    },
    has: (error: Error): boolean => errors.has(error),
  };
}
