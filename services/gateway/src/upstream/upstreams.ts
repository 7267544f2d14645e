import { lookup } from 'node:dns/promises';
import { errorCode } from '@bubbles/kernel/errors.ts';
import type { Ids } from '@bubbles/kernel/ids.ts';
import type { Log } from '@bubbles/kernel/log.ts';
import { type Loop, type LoopContext, startLoop } from '@bubbles/kernel/loop.ts';
import { preferenceOf } from '../balancing/rendezvous.ts';
import { Address, type PlaceKind, type PoolLimits } from './address.ts';

/** `dns+http://name:port` stands for every address that the name has at the time (a headless service: the ready replicas). */
const DNS_SCHEME = 'dns+';
const RESOLVE_EVERY_MS = 5000;
/** A replica that left its name still answers the requests in flight. */
const CLOSE_AFTER_MS = 30_000;

/** Service → URLs. */
export type UpstreamUrls = Readonly<Record<string, readonly string[]>>;

/** The services and their current replicas. */
export interface Upstreams {
  readonly services: readonly string[];
  addresses(service: string): readonly Address[];
  /** Best first: by rendezvous hashing of a key, else least in flight. Silent ones come after the others, those whose breaker is open last. */
  candidates(service: string, key: string | null, kind?: PlaceKind): readonly Address[];
  /** Resolves the names; called once before the first request. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

interface UpstreamOptions extends LoopContext {
  readonly urls: UpstreamUrls;
  readonly ids: Ids;
  readonly limits: PoolLimits;
}

export const createUpstreams = ({ urls, clock, log, onFailure, ids, limits }: UpstreamOptions): Upstreams => {
  const serving = new Map<string, readonly Address[]>();
  const names = Object.values(urls)
    .flat()
    .filter((url) => url.startsWith(DNS_SCHEME));
  let loop: Loop | null = null;
  const setAddresses = (service: string, origins: readonly string[]) => {
    const before = serving.get(service) ?? [];
    const known = new Map(before.map((address) => [address.origin, address]));
    serving.set(
      service,
      origins.map((origin) => known.get(origin) ?? new Address(origin, clock, limits)),
    );
    for (const address of before) if (!origins.includes(address.origin)) setTimeout(() => void address.close(), CLOSE_AFTER_MS).unref();
  };
  const resolveAll = async () => {
    for (const [service, configured] of Object.entries(urls)) {
      const origins = await resolveOrigins(service, configured, log);
      if (origins !== null) setAddresses(service, origins);
    }
    return null;
  };
  const addresses = (service: string) => serving.get(service) ?? [];
  return {
    services: Object.keys(urls),
    addresses,
    candidates: (service, key, kind = 'usual') => {
      const all = serving.get(service) ?? [];
      if (all.length < 2) return all;
      const preferred = key === null ? byDemand(all, kind, ids) : byPreference(all, key);
      return preferred.toSorted((a, b) => rank(a) - rank(b));
    },
    start: async () => {
      await resolveAll();
      if (names.length > 0) loop = startLoop({ name: 'upstream-names', clock, log, onFailure, run: resolveAll, pollMs: RESOLVE_EVERY_MS });
    },
    stop: async () => {
      await loop?.stop();
      await Promise.all([...serving.values()].flat().map((address) => address.close()));
    },
  };
};

const rank = (address: Address): number => {
  if (!address.isReady()) return 2;
  return address.wasSilent() ? 1 : 0;
};

/** Equals are rotated: one that always came first would get all requests of a quiet time. */
const byDemand = (addresses: readonly Address[], kind: PlaceKind, ids: Ids): readonly Address[] => {
  const first = (ids.bytes(1)[0] ?? 0) % addresses.length;
  return [...addresses.slice(first), ...addresses.slice(0, first)].toSorted((a, b) => a.demand(kind) - b.demand(kind));
};

const byPreference = (addresses: readonly Address[], key: string): readonly Address[] => {
  const byOrigin = new Map(addresses.map((address) => [address.origin, address]));
  return preferenceOf([...byOrigin.keys()], key).flatMap((origin) => byOrigin.get(origin) ?? []);
};

/** Null when a name could not be resolved: the addresses known so far stay. */
const resolveOrigins = async (service: string, configured: readonly string[], log: Log): Promise<readonly string[] | null> => {
  try {
    const resolved = await Promise.all(configured.map(originsOf));
    return [...new Set(resolved.flat())].toSorted();
  } catch (error) {
    log.warn('addresses of a service could not be resolved', { service, code: errorCode(error) });
    return null;
  }
};

const originsOf = async (url: string): Promise<readonly string[]> => {
  if (!url.startsWith(DNS_SCHEME)) return [new URL(url).origin];
  const { protocol, hostname, port } = new URL(url.slice(DNS_SCHEME.length));
  const found = await lookup(hostname, { all: true });
  return found.map(({ address, family }) => new URL(`${protocol}//${family === 6 ? `[${address}]` : address}:${port || '80'}`).origin);
};
