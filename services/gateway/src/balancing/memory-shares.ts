/** The memory that clients hold while they send or read slowly, bounded in all and for each peer. */
export interface MemoryShares {
  /** `evict` is called when its holder must let go; what it held counts as given back by then. */
  hold(peer: string, evict: () => void): MemoryHold;
}

/** What one body or answer holds. Later calls change nothing once it was evicted or released. */
export interface MemoryHold {
  grow(bytes: number): void;
  /** Whoever lets go of something has moved on, and is evicted after those who have not. */
  shrink(bytes: number): void;
  release(): void;
}

export interface MemoryLimits {
  readonly totalBytes: number;
  /** Share of one peer, in bytes. */
  readonly shareBytes: number;
}

interface Held {
  bytes: number;
  readonly evict: () => void;
}

interface PeerMemory {
  bytes: number;
  /** Longest without progress first. */
  readonly holds: Set<Held>;
}

/** Above a peer's share the oldest holder of the peer is evicted, above the total the oldest holder of the peer that holds most. */
export const createMemoryShares = ({ totalBytes, shareBytes }: MemoryLimits): MemoryShares => {
  const peers = new Map<string, PeerMemory>();
  let total = 0;

  const give = (memory: PeerMemory, held: Held, bytes: number) => {
    held.bytes += bytes;
    memory.bytes += bytes;
    total += bytes;
  };
  const drop = (peer: string, memory: PeerMemory, held: Held) => {
    if (!memory.holds.delete(held)) return false;
    give(memory, held, -held.bytes);
    if (memory.holds.size === 0) peers.delete(peer);
    return true;
  };
  const evictOldest = (peer: string, memory: PeerMemory) => {
    const [oldest] = memory.holds;
    if (oldest !== undefined && drop(peer, memory, oldest)) oldest.evict();
  };
  const evictOfLargest = () => {
    const [largest] = [...peers].toSorted(([, a], [, b]) => b.bytes - a.bytes);
    if (largest !== undefined) evictOldest(...largest);
  };

  return {
    hold: (peer, evict) => {
      const memory = peers.get(peer) ?? { bytes: 0, holds: new Set() };
      const held: Held = { bytes: 0, evict };
      peers.set(peer, memory);
      memory.holds.add(held);
      return {
        grow: (bytes) => {
          if (!memory.holds.has(held)) return;
          give(memory, held, bytes);
          while (memory.bytes > shareBytes) evictOldest(peer, memory);
          while (total > totalBytes) evictOfLargest();
        },
        shrink: (bytes) => {
          if (!memory.holds.delete(held)) return;
          memory.holds.add(held);
          give(memory, held, -bytes);
        },
        release: () => void drop(peer, memory, held),
      };
    },
  };
};
