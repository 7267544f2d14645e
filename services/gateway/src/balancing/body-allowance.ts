/** What each network may send in bodies to routes that look at no credential: a burst, then a rate. */
export interface AllowanceLimits {
  readonly burstBytes: number;
  readonly bytesPerSecond: number;
}

export interface BodyAllowance {
  /** After how many seconds the network may send again; null when it may now. */
  waitSeconds(network: string): number | null;
  /** Bytes that came; more than it has left is a debt. */
  spend(network: string, bytes: number): void;
}

interface Used {
  readonly bytes: number;
  readonly atMs: number;
}

/** More of them push out those that have sent nothing for longest. */
const MAX_NETWORKS = 20_000;

export const createBodyAllowance = ({ burstBytes, bytesPerSecond }: AllowanceLimits, nowMs: () => number): BodyAllowance => {
  const networks = new Map<string, Used>();
  const usedBy = (network: string): number => {
    const used = networks.get(network);
    return used === undefined ? 0 : Math.max(0, used.bytes - ((nowMs() - used.atMs) / 1000) * bytesPerSecond);
  };
  return {
    waitSeconds(network) {
      const used = usedBy(network);
      return used < burstBytes ? null : Math.floor((used - burstBytes) / bytesPerSecond) + 1;
    },
    spend(network, bytes) {
      if (bytes === 0) return;
      const used = usedBy(network) + bytes;
      networks.delete(network);
      networks.set(network, { bytes: used, atMs: nowMs() });
      const [oldest] = networks.keys();
      if (networks.size > MAX_NETWORKS && oldest !== undefined) networks.delete(oldest);
    },
  };
};
