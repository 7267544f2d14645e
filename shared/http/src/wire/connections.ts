import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { isIPv4, isIPv6, type Server, type Socket } from 'node:net';

const GROUPS = 8;
/** Of IPv6 addresses that end with an IPv4 one: mapped (RFC 4291, 2.5.5.2) and translated (RFC 6052, 2.1). */
const BEFORE_IPV4 = ['0:0:0:0:0:ffff', '64:ff9b:0:0:0:0'];
const NETWORK_GROUPS = 4;
const SITE_GROUPS = 3;

/** The unit for limits per client: an IPv4 address, or the /64 network of an IPv6 address. */
export const networkOf = (address: string): string => prefixOf(address, NETWORK_GROUPS);

/** The unit for shares of what is scarce: an IPv4 address, or the /48 of an IPv6 address, since one customer may have all networks in it. */
export const siteOf = (address: string): string => prefixOf(address, SITE_GROUPS);

const prefixOf = (address: string, length: number): string => {
  if (isIPv4(address) || !isIPv6(address)) return address;
  const groups = groupsOf(address);
  if (!BEFORE_IPV4.includes(joined(groups.slice(0, -2)))) return joined(groups.slice(0, length));
  return groups
    .slice(-2)
    .flatMap((group) => [group >> 8, group & 0xff])
    .join('.');
};

const joined = (groups: readonly number[]): string => groups.map((group) => group.toString(16)).join(':');

/** The eight of an IPv6 address in any of its forms. */
const groupsOf = (address: string): readonly number[] => {
  const [unzoned = ''] = address.split('%');
  const [head = '', tail] = new URL(`http://[${unzoned}]`).hostname.slice(1, -1).split('::');
  const [front, back] = [head, tail ?? ''].map((side) => side.split(':').filter((group) => group !== ''));
  const known = [...(front ?? []), ...(back ?? [])].map((group) => Number.parseInt(group, 16));
  return known.toSpliced(front?.length ?? 0, 0, ...Array.from({ length: GROUPS - known.length }, () => 0));
};

interface PeerConnections {
  readonly site: string;
  /** In the order of their coming. */
  readonly sockets: Set<Socket>;
}

/** Bounds the connections of a server: above the bound the peer that holds most loses its newest, so that one peer keeps no other out. */
export const shareConnections = (server: Server, maxConnections: number): void => {
  const peers = new Map<string, PeerConnections>();
  let open = 0;
  const leave = ({ site, sockets }: PeerConnections, socket: Socket) => {
    if (!sockets.delete(socket)) return;
    open -= 1;
    if (sockets.size === 0) peers.delete(site);
  };
  server.on('connection', (socket: Socket) => {
    const site = siteOf(socket.remoteAddress ?? '');
    const peer = peers.get(site) ?? { site, sockets: new Set() };
    peers.set(site, peer);
    peer.sockets.add(socket);
    open += 1;
    socket.once('close', () => leave(peer, socket));
    if (open <= maxConnections) return;
    const largest = largestOf(peers, peer);
    const newest = largest === peer ? socket : [...largest.sockets].at(-1);
    if (newest === undefined) return;
    leave(largest, newest);
    newest.destroy();
  });
};

/** `own` when no other holds more. */
const largestOf = (peers: ReadonlyMap<string, PeerConnections>, own: PeerConnections): PeerConnections =>
  peers.values().reduce((largest, peer) => (peer.sockets.size > largest.sockets.size ? peer : largest), own);

const MAX_REQUESTS = 1000;
/** Pipelined requests that may wait on one connection; further ones are not read until an answer was sent. */
const MAX_WAITING = 256;
/** Over all connections, about 80 MB. Above it each connection may have `FEW_WAITING`. */
const MAX_WAITING_IN_ALL = 20_000;
const FEW_WAITING = 8;
/** Requests that were parsed with those before them and will not be served, over all connections. */
const MAX_IGNORED = 10_000;
const LINGER_MS = 1000;

/** Serves the requests of each connection one at a time: the next is handed over when the answer before it has left. */
export interface ConnectionTurns {
  /** Takes each request as the parser delivers it. */
  readonly listener: RequestListener;
  /** From now on each answer closes its connection. */
  drain(): void;
  /** `end` ends the connection when all answers that are due have left; at once when the request being answered is itself broken. */
  afterAnswers(socket: Socket, end: () => void): void;
}

/** What the connections of one server share. */
interface Shared {
  readonly serve: RequestListener;
  draining: boolean;
  waiting: number;
  ignored: number;
}

interface Waiting {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
}

export const createConnectionTurns = (serve: RequestListener): ConnectionTurns => {
  const connections = new WeakMap<Socket, Connection>();
  const shared: Shared = { serve, draining: false, waiting: 0, ignored: 0 };
  const opened = (socket: Socket): Connection => {
    const connection = new Connection(socket, shared);
    connections.set(socket, connection);
    return connection;
  };
  return {
    listener: (req, res) => (connections.get(req.socket) ?? opened(req.socket)).receive(req, res),
    drain: () => {
      shared.draining = true;
    },
    afterAnswers: (socket, end) => (connections.get(socket) ?? opened(socket)).endAfterAnswers(end),
  };
};

class Connection {
  readonly #socket: Socket;
  readonly #shared: Shared;
  #current: ServerResponse | null = null;
  #waiting: Waiting[] = [];
  #received = 0;
  #ignoredHere = 0;
  /** The last request that is served has been received. */
  #closing = false;
  #end: (() => void) | null = null;

  constructor(socket: Socket, shared: Shared) {
    this.#socket = socket;
    this.#shared = shared;
  }

  receive(req: IncomingMessage, res: ServerResponse): void {
    if (this.#closing) {
      this.#ignore();
      return;
    }
    const { length } = this.#waiting;
    const isFull = length === MAX_WAITING || (length >= FEW_WAITING && this.#shared.waiting >= MAX_WAITING_IN_ALL);
    this.#received += 1;
    if (this.#received === MAX_REQUESTS || isFull) this.#closeAfter(res);
    if (this.#current === null && length === 0) this.#hand(req, res);
    else this.#wait({ req, res });
  }

  #wait(waiting: Waiting): void {
    this.#shared.waiting += 1;
    if (this.#waiting.push(waiting) === 1 && !this.#closing) this.#holdBack();
  }

  #leave(waiting: Waiting | undefined): Waiting | undefined {
    if (waiting !== undefined) this.#shared.waiting -= 1;
    return waiting;
  }

  endAfterAnswers(end: () => void): void {
    if (this.#end !== null) return;
    this.#closing = true;
    if (this.#current === null && this.#waiting.length === 0) {
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
    if (this.#shared.draining) res.shouldKeepAlive = false;
    res.on('close', this.#next);
    this.#shared.serve(req, res);
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
    this.#shared.waiting -= this.#waiting.length;
    this.#waiting = [];
  }

  /** Nothing more is read while a request waits. Node itself reads on after each answer. */
  #holdBack(): void {
    this.#socket.on('resume', this.#pauseAgain).pause();
  }

  /** Reads what follows only to notice that the client leaves. */
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
    this.#shared.ignored += 1;
    if (this.#shared.ignored > MAX_IGNORED) this.#socket.destroy();
  }

  #forgetIgnored(): void {
    this.#shared.ignored -= this.#ignoredHere;
  }
}
