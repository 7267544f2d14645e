import type { Server, Socket } from 'node:net';
import { networkOf } from './network.ts';

interface PeerConnections {
  readonly network: string;
  /** In the order of their coming. */
  readonly sockets: Set<Socket>;
}

/** Bounds the connections of a server: above the bound the peer that holds most loses its newest, so that one peer keeps no other out. */
export const shareConnections = (server: Server, maxConnections: number): void => {
  const peers = new Map<string, PeerConnections>();
  let open = 0;
  const leave = ({ network, sockets }: PeerConnections, socket: Socket) => {
    if (!sockets.delete(socket)) return;
    open -= 1;
    if (sockets.size === 0) peers.delete(network);
  };
  server.on('connection', (socket: Socket) => {
    const network = networkOf(socket.remoteAddress ?? '');
    const peer = peers.get(network) ?? { network, sockets: new Set() };
    peers.set(network, peer);
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
