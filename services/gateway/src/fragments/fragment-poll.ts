import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ServiceTokens } from '@bubbles/http/client/internal-client.ts';
import type { Clock } from '@bubbles/kernel/clock.ts';
import { errorCode } from '@bubbles/kernel/errors.ts';
import { callHeaders, inUnrecordedSpan } from '@bubbles/kernel/trace.ts';
import { Agent, request } from 'undici';
import type { Address } from '../upstream/address.ts';
import type { Upstreams } from '../upstream/upstreams.ts';
import type { FragmentRegistry } from './registry.ts';

/** The fragments that were committed and came with the image, so that a gateway beside a dead service still knows what it serves. */
export const readBakedFragments = (folder: string, services: readonly string[]): ReadonlyMap<string, string> =>
  new Map(
    services
      .map((service) => [service, join(folder, `${service}.json`)] as const)
      .filter(([, path]) => existsSync(path))
      .map(([service, path]) => [service, readFileSync(path, 'utf8')]),
  );

interface Fetched {
  readonly etag: string;
  /** Null when it is the fragment that is known. */
  readonly text: string | null;
}

interface FragmentClient {
  /** Rejects when the service does not answer with a fragment. `known`: the ETag of the one that this address has shown before. */
  fetch(service: string, address: Address, known: string | null): Promise<Fetched>;
  close(): Promise<void>;
}

const FRAGMENT_PATH = '/internal/openapi.json';
const DEADLINE_MS = 2000;
const MAX_BYTES = 8 * 1024 * 1024;

export const createFragmentClient = (tokens: ServiceTokens): FragmentClient => {
  const dispatcher = new Agent({ connections: 1, connect: { timeout: 1000 }, maxResponseSize: MAX_BYTES, allowH2: false });
  return {
    fetch: async (service, { origin }, known) => {
      const { statusCode, headers, body } = await request(`${origin}${FRAGMENT_PATH}`, {
        dispatcher,
        signal: AbortSignal.timeout(DEADLINE_MS),
        headers: {
          ...callHeaders(),
          authorization: await tokens.authorizationFor(service),
          ...(known !== null && { 'if-none-match': known }),
        },
      });
      const text = await body.text();
      if (statusCode === 304 && known !== null) return { etag: known, text: null };
      const etag = headers['etag'];
      if (statusCode !== 200 || typeof etag !== 'string') throw new Error(`${service} answered ${statusCode} without a fragment.`);
      return { etag, text };
    },
    close: () => dispatcher.destroy(),
  };
};

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

export const createFragmentPoll = ({ registry, upstreams, client, clock }: PollOptions): FragmentPoll => {
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
    refresh: () => inUnrecordedSpan(() => askAll(upstreams.services)),
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
