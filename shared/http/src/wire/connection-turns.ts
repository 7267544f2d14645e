import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

const MAX_REQUESTS = 1000;
/** Requests that may wait on one connection; whoever sends more before reading an answer gets no further ones. */
const MAX_WAITING = 256;
/** Over all connections, about 80 MB: above it a connection may have so few waiting. */
const MAX_WAITING_IN_ALL = 20_000;
const FEW_WAITING = 8;
/** Requests that were parsed with those before them and will not be served, over all connections. */
const MAX_IGNORED = 10_000;
const LINGER_MS = 1000;

/** Serves the requests of each connection one at a time: the next is handed over when the answer before it has left. */
export interface ConnectionTurns {
  /** Takes each request as the parser delivers it. */
  readonly listener: RequestListener;
  /** `end` ends the connection when all answers that are due have left; at once when the request being answered is itself broken. */
  afterAnswers(socket: Socket, end: () => void): void;
}

/** Of all connections of a server. */
interface Totals {
  waiting: number;
  ignored: number;
}

interface Waiting {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
}

export const connectionTurns = (serve: RequestListener): ConnectionTurns => {
  const connections = new WeakMap<Socket, Connection>();
  const totals: Totals = { waiting: 0, ignored: 0 };
  const opened = (socket: Socket): Connection => {
    const connection = new Connection(socket, serve, totals);
    connections.set(socket, connection);
    return connection;
  };
  return {
    listener: (req, res) => (connections.get(req.socket) ?? opened(req.socket)).receive(req, res),
    afterAnswers: (socket, end) => (connections.get(socket) ?? opened(socket)).endAfterAnswers(end),
  };
};

class Connection {
  readonly #socket: Socket;
  readonly #serve: RequestListener;
  readonly #totals: Totals;
  #current: ServerResponse | null = null;
  #waiting: Waiting[] = [];
  #received = 0;
  #ignoredHere = 0;
  /** The last request that is served has been received. */
  #closing = false;
  #end: (() => void) | null = null;

  constructor(socket: Socket, serve: RequestListener, totals: Totals) {
    this.#socket = socket;
    this.#serve = serve;
    this.#totals = totals;
  }

  receive(req: IncomingMessage, res: ServerResponse): void {
    if (this.#closing) {
      this.#ignore();
      return;
    }
    this.#received += 1;
    if (this.#received === MAX_REQUESTS || this.#isFull()) this.#closeAfter(res);
    if (this.#isIdle()) this.#hand(req, res);
    else this.#wait({ req, res });
  }

  #isFull(): boolean {
    const { length } = this.#waiting;
    return length === MAX_WAITING || (length >= FEW_WAITING && this.#totals.waiting >= MAX_WAITING_IN_ALL);
  }

  #wait(waiting: Waiting): void {
    this.#totals.waiting += 1;
    if (this.#waiting.push(waiting) === 1 && !this.#closing) this.#holdBack();
  }

  #leave(waiting: Waiting | undefined): Waiting | undefined {
    if (waiting !== undefined) this.#totals.waiting -= 1;
    return waiting;
  }

  endAfterAnswers(end: () => void): void {
    if (this.#end !== null) return;
    this.#closing = true;
    if (this.#isIdle()) {
      end();
      return;
    }
    const last = this.#waiting.at(-1);
    if (last === undefined && this.#current !== null && !this.#current.req.complete) {
      // Its answer has begun already: it cannot be taken back, only ended.
      if (this.#current.headersSent) this.#socket.destroySoon();
      else end();
      return;
    }
    if (last !== undefined && !last.req.complete) this.#leave(this.#waiting.pop());
    this.#end = end;
    this.#readOn();
  }

  #hand(req: IncomingMessage, res: ServerResponse): void {
    this.#current = res;
    res.on('close', this.#next);
    this.#serve(req, res);
  }

  #isIdle(): boolean {
    return this.#current === null && this.#waiting.length === 0;
  }

  readonly #next = (): void => {
    this.#current = null;
    if (!this.#socket.writable) this.#dropWaiting();
    // In a turn of its own: many requests of one connection hold up no other.
    if (this.#waiting.length > 0) setImmediate(this.#handWaiting);
    else this.#end?.();
  };

  readonly #handWaiting = (): void => {
    if (!this.#socket.writable) this.#dropWaiting();
    const next = this.#leave(this.#waiting.shift());
    if (next === undefined) {
      this.#end?.();
      return;
    }
    this.#hand(next.req, next.res);
    if (this.#waiting.length === 0) this.#socket.resume();
  };

  #dropWaiting(): void {
    this.#totals.waiting -= this.#waiting.length;
    this.#waiting = [];
  }

  /** Nothing more is read while a request waits. Node itself reads on after each answer. */
  #holdBack(): void {
    this.#socket.on('resume', this.#pauseAgain).pause();
  }

  /** What follows is of no interest, but that the client leaves is. */
  #readOn(): void {
    this.#socket.off('resume', this.#pauseAgain).resume();
  }

  readonly #pauseAgain = (): void => {
    if (this.#waiting.length > 0) this.#socket.pause();
    else this.#socket.off('resume', this.#pauseAgain);
  };

  /** What the client sends meanwhile is read and dropped: a close at once would reset the connection, and the answer with it. */
  #closeAfter(res: ServerResponse): void {
    this.#closing = true;
    this.#readOn();
    res.shouldKeepAlive = false;
    this.#socket.destroySoon = () => {
      this.#socket.end();
      setTimeout(() => this.#socket.destroy(), LINGER_MS).unref();
    };
  }

  #ignore(): void {
    if (this.#ignoredHere === 0) this.#socket.once('close', () => this.#forgetIgnored());
    this.#ignoredHere += 1;
    this.#totals.ignored += 1;
    if (this.#totals.ignored > MAX_IGNORED) this.#socket.destroy();
  }

  #forgetIgnored(): void {
    this.#totals.ignored -= this.#ignoredHere;
  }
}
