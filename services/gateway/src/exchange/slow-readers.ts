import type { ServerResponse } from 'node:http';
import type { MemoryHold, MemoryShares } from '../balancing/memory-shares.ts';
import type { Exchange } from './exchange.ts';

interface SlowReadersOptions {
  /** Holds what clients have not read. */
  readonly unread: MemoryShares;
  /** The time that a client may take to read 64 KiB. */
  readonly stallMs: number;
}

type Client = Pick<Exchange, 'res' | 'network'>;

/** The rest of an answer, for a client that reads it more slowly than it comes. */
export interface SlowAnswer {
  write(chunk: Buffer): void;
  end(): void;
  /** No more is read ahead before `onRoom`. */
  isFull(): boolean;
}

/** Cuts clients that do not read, and those whose network holds more unread memory than its share, so that the connection of a service comes free soon. */
export interface SlowReaders {
  /** Once a write to the client found no room, all that follows goes through it. */
  queue(exchange: Client, onRoom: () => void): SlowAnswer;
  /** For an answer that is written whole while its client has not taken all of it. */
  watch(exchange: Client): void;
}

const READ_AHEAD_BYTES = 1024 * 1024;
/** What a client has `stallMs` for: that much, or one part of it. */
const STALL_BYTES = 64 * 1024;

export const createSlowReaders = ({ unread, stallMs }: SlowReadersOptions): SlowReaders => {
  const known = new WeakSet<ServerResponse>();
  const queue = ({ res, network }: Client, onRoom: () => void): SlowAnswer => {
    known.add(res);
    const hold = unread.hold(network, () => res.destroy());
    return new SlowQueue(res, { hold, stallMs, onRoom });
  };
  return {
    queue,
    watch: (exchange) => {
      if (!known.has(exchange.res)) queue(exchange, () => undefined);
    },
  };
};

interface QueueOptions {
  readonly hold: MemoryHold;
  readonly stallMs: number;
  readonly onRoom: () => void;
}

/** Hands the client one part after the other: each that it takes proves that it still reads. */
class SlowQueue implements SlowAnswer {
  readonly #res: ServerResponse;
  readonly #options: QueueOptions;
  #chunks: Buffer[] = [];
  #queuedBytes = 0;
  /** Written, and not taken by the client. */
  #openBytes: number;
  #hasEnded = false;
  #timer: NodeJS.Timeout;

  constructor(res: ServerResponse, options: QueueOptions) {
    this.#res = res;
    this.#options = options;
    this.#openBytes = res.writableLength;
    this.#timer = this.#limit();
    res.on('drain', this.#onDrain).on('close', this.#onClose);
    options.hold.grow(this.#openBytes);
  }

  write(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#queuedBytes += chunk.length;
    this.#options.hold.grow(chunk.length);
    if (this.#openBytes === 0) this.#writeNext();
  }

  end(): void {
    this.#hasEnded = true;
    if (this.#openBytes === 0) this.#writeNext();
  }

  isFull(): boolean {
    return this.#queuedBytes >= READ_AHEAD_BYTES;
  }

  #writeNext(): void {
    if (this.#res.destroyed) return;
    const chunk = this.#chunks.shift();
    if (chunk === undefined) {
      if (this.#hasEnded) this.#endAnswer();
      return;
    }
    this.#queuedBytes -= chunk.length;
    this.#openBytes = chunk.length;
    const hasRoom = this.#res.write(chunk);
    this.#timer = this.#limit();
    if (hasRoom) this.#onDrain();
  }

  #endAnswer(): void {
    this.#res.end();
    this.#openBytes = this.#res.writableLength;
    this.#options.hold.grow(this.#openBytes);
    this.#timer = this.#limit();
  }

  readonly #onDrain = (): void => {
    clearTimeout(this.#timer);
    this.#options.hold.shrink(this.#openBytes);
    this.#openBytes = 0;
    this.#writeNext();
    if (!this.isFull()) this.#options.onRoom();
  };

  readonly #onClose = (): void => {
    clearTimeout(this.#timer);
    this.#options.hold.release();
  };

  #limit(): NodeJS.Timeout {
    const ms = this.#options.stallMs * Math.max(1, this.#res.writableLength / STALL_BYTES);
    return setTimeout(() => this.#res.destroy(), ms);
  }
}
