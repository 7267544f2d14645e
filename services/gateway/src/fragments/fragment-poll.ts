import type { Clock } from '@bubbles/kernel/clock.ts';
import { errorCode } from '@bubbles/kernel/errors.ts';
import type { Address } from '../upstream/address.ts';
import type { Upstreams } from '../upstream/upstreams.ts';
import type { FragmentClient } from './fetch-fragment.ts';
import type { FragmentRegistry } from './registry.ts';

/** Keeps the registry informed by the services themselves. */
export interface FragmentPoll {
  /** Asks every replica of every service. */
  refresh(): Promise<void>;
  /** An operation that nobody knows was asked for: asks its owner, at most once a second. */
  discover(service: string): Promise<void>;
  /** Why a service did not answer when it was asked last. */
  lastError(service: string): string | null;
}

interface PollOptions {
  readonly registry: FragmentRegistry;
  readonly upstreams: Upstreams;
  readonly client: FragmentClient;
  readonly clock: Clock;
}

const DISCOVER_EVERY_MS = 1000;

export const fragmentPoll = ({ registry, upstreams, client, clock }: PollOptions): FragmentPoll => {
  const etags = new WeakMap<Address, string>();
  const errors = new Map<string, string>();
  const discoveries = new Map<string, { readonly at: number; readonly done: Promise<void> }>();
  const ask = async (service: string, address: Address) => {
    try {
      const { etag, text } = await client.fetch(service, address, etags.get(address) ?? null);
      // It answers: what its breaker held against it is over.
      address.record('answered');
      registry.shown(service, etag, text);
      etags.set(address, etag);
      errors.delete(service);
    } catch (error) {
      errors.set(service, String(errorCode(error) ?? (Error.isError(error) ? error.message : 'unknown')));
    }
  };
  const askAll = async (services: readonly string[]) => {
    await Promise.all(services.flatMap((service) => upstreams.addresses(service).map((address) => ask(service, address))));
    registry.rebuild();
  };
  return {
    refresh: () => askAll(upstreams.services),
    discover: (service) => {
      const last = discoveries.get(service);
      const now = clock.monotonic();
      if (last !== undefined && now - last.at < DISCOVER_EVERY_MS) return last.done;
      const done = askAll([service]);
      discoveries.set(service, { at: now, done });
      return done;
    },
    lastError: (service) => errors.get(service) ?? null,
  };
};
