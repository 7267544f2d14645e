import { promises as dns } from 'node:dns';
import { DomainError, errorCode } from '@bubbles/kernel/errors.ts';

/** Asks the DNS; rejects with a `code` when there is no answer, and with `unavailable` when no name server can be reached. */
export interface Resolver {
  resolve4(name: string): Promise<string[]>;
  resolve6(name: string): Promise<string[]>;
}

const DNS_TIMEOUT_MS = 2000;
const DNS_TRIES = 2;

/** A query that every name server answers somehow, with a small answer that no destination controls. */
const ROOT = '.';

const isRefused = (error: unknown): boolean => errorCode(error) === 'ECONNREFUSED';

interface NameServers extends Resolver {
  resolveSoa(name: string): Promise<unknown>;
}

/**
 * Look-ups that reject with `unavailable` when our name servers are away. One refused name does not prove that: a name with more addresses than fit into a
 * datagram is asked again over TCP, which the servers may not offer. When they refuse the root too, no destination can have caused it.
 */
export function nameServers(servers: NameServers): Resolver {
  const areAway = () => servers.resolveSoa(ROOT).then(() => false, isRefused);
  const judged = async (asked: Promise<string[]>): Promise<string[]> => {
    try {
      return await asked;
    } catch (error) {
      if (isRefused(error) && (await areAway())) throw new DomainError('unavailable', 'No name server can be asked.', { cause: error });
      throw error;
    }
  };
  return {
    resolve4: (name) => judged(servers.resolve4(name)),
    resolve6: (name) => judged(servers.resolve6(name)),
  };
}

/**
 * Looks names up with c-ares, not on the four threads that the rest of the process shares. `offline`: there may be no name servers; names do not resolve
 * then.
 */
export const createResolver = ({ offline }: { readonly offline: boolean }): Resolver => {
  const servers = new dns.Resolver({ timeout: DNS_TIMEOUT_MS, tries: DNS_TRIES });
  return offline ? servers : nameServers(servers);
};
