import { isIP } from 'node:net';
import { bare, type DestinationPolicy, destinationUrl, isLoopbackHost } from '@bubbles/address-guard/destination-url.ts';
import type { Clock } from '@bubbles/kernel/clock.ts';
import { singleFlight } from '@bubbles/kernel/concurrency.ts';
import { DomainError, isDomainError } from '@bubbles/kernel/errors.ts';
import type { Log } from '@bubbles/kernel/log.ts';
import { createTwoGenerationCache } from '@bubbles/kernel/two-generation-cache.ts';
import { clientOfDocument } from '../../domain/client-document.ts';
import type { OAuthClient } from '../../domain/oauth-client.ts';
import type { FetchedDocument } from './fetch-document.ts';

/** How long a document is kept, whatever its server says; and when it says nothing. */
const KEPT_SECONDS = { least: 60, most: 24 * 60 * 60, usual: 5 * 60 } as const;
/** How long a URL that led to no client is not asked again: that keeps nobody out for longer, and a flood from their server. */
const REFUSED_MS = 10_000;
const MAX_KNOWN = 2000;
const WINDOW_MS = 60_000;
/** An asker gets a part of each limit, so that it does not keep the others from apps of the host, or from all apps. */
const LIMITS = { ofHost: { all: 20, perAsker: 4 }, overAll: { all: 600, perAsker: 60 } } as const;

const NOT_A_DOCUMENT_URL =
  'client_id: must be an https URL as browsers write it, with a path and without port, IP address, query, fragment, user or dot segments.';

/** By simple string comparison (RFC 3986, 6.2.1): a URL in any other spelling than the parser's hides something. */
const documentUrl = (id: string, policy: DestinationPolicy): URL => {
  const url = destinationUrl('client_id', id, policy);
  const isExempt = policy.loopback && isLoopbackHost(url.hostname);
  const isPlain = url.href === id && url.pathname !== '/' && !/[?#]/.test(id);
  if (isPlain && (isExempt || (url.port === '' && isIP(bare(url.hostname)) === 0))) return url;
  throw new DomainError('invalid', NOT_A_DOCUMENT_URL);
};

interface Fetch {
  readonly host: string;
  readonly asker: string;
  readonly atMs: number;
}

/** Counts the fetches of the last minute in this process; there are never more than the limit over all. */
const createFetchLimit = (clock: Clock): ((host: string, asker: string) => void) => {
  let fetches: readonly Fetch[] = [];
  return (host, asker) => {
    const nowMs = clock.monotonic();
    fetches = fetches.filter(({ atMs }) => nowMs - atMs < WINDOW_MS);
    const counted = [
      { limits: LIMITS.ofHost, within: fetches.filter((fetched) => fetched.host === host) },
      { limits: LIMITS.overAll, within: fetches },
    ].flatMap(({ limits, within }) => [
      { limit: limits.perAsker, within: within.filter((fetched) => fetched.asker === asker) },
      { limit: limits.all, within },
    ]);
    const first = counted.find(({ limit, within }) => within.length >= limit)?.within[0];
    if (first !== undefined)
      throw new DomainError('rate_limited', 'Too many metadata documents were asked for. Wait before the next try.', {
        retryAfterSeconds: Math.ceil((first.atMs + WINDOW_MS - nowMs) / 1000),
      });
    fetches = [...fetches, { host, asker, atMs: nowMs }];
  };
};

interface ClientDocumentsOptions {
  readonly fetch: (url: URL) => Promise<FetchedDocument>;
  readonly policy: DestinationPolicy;
  readonly clock: Clock;
  readonly log: Log;
}

interface Known {
  readonly client: OAuthClient;
  readonly untilMs: number;
  /** Until then it is used while this process cannot fetch it again. */
  readonly staleUntilMs: number;
}

/** That of this process, or of those who ask it too often: it says nothing of the document. */
const isOurTrouble = (error: unknown): boolean => isDomainError(error) && (error.kind === 'rate_limited' || error.kind === 'unavailable');

/** The client whose metadata document is at that URL; rejects with `invalid` when there is none. */
type ClientDocuments = (url: string, asker: string) => Promise<OAuthClient>;

export const createClientDocuments = ({ fetch, policy, clock, log }: ClientDocumentsOptions): ClientDocuments => {
  const known = createTwoGenerationCache<Known>(KEPT_SECONDS.most * 1000, MAX_KNOWN);
  // Apart, so that URLs that lead nowhere push out no app.
  const refused = createTwoGenerationCache<{ readonly error: DomainError; readonly untilMs: number }>(REFUSED_MS, MAX_KNOWN);
  const countFetch = createFetchLimit(clock);

  const load = singleFlight(async (id: string, asker: string): Promise<OAuthClient> => {
    const url = documentUrl(id, policy);
    countFetch(url.host, asker);
    try {
      const { fields, maxAgeSeconds } = await fetch(url);
      const client = clientOfDocument(id, fields, clock.now());
      const seconds = Math.min(Math.max(maxAgeSeconds ?? KEPT_SECONDS.usual, KEPT_SECONDS.least), KEPT_SECONDS.most);
      const nowMs = clock.monotonic();
      known.set(id, { client, untilMs: nowMs + seconds * 1000, staleUntilMs: nowMs + KEPT_SECONDS.most * 1000 }, nowMs);
      return client;
    } catch (error) {
      if (isDomainError(error) && error.kind === 'invalid') {
        log.info('client metadata document refused', { host: url.host, reason: error.message, error: error.cause });
        const nowMs = clock.monotonic();
        refused.set(id, { error, untilMs: nowMs + REFUSED_MS }, nowMs);
        const kept = known.get(id, nowMs);
        if (kept !== null) known.set(id, { ...kept, staleUntilMs: nowMs }, nowMs);
      }
      throw error;
    }
  });

  return (id, asker) => {
    const nowMs = clock.monotonic();
    const kept = known.get(id, nowMs);
    if (kept !== null && kept.untilMs > nowMs) return Promise.resolve(kept.client);
    const refusal = refused.get(id, nowMs);
    if (refusal !== null && refusal.untilMs > nowMs) return Promise.reject(refusal.error);
    const stale = kept !== null && kept.staleUntilMs > nowMs ? kept.client : null;
    return load(id, asker).catch((error: unknown) => (stale !== null && isOurTrouble(error) ? stale : Promise.reject(error)));
  };
};
