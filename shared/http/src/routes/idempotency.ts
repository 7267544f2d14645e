import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { DomainError, isDomainError } from '@bubbles/kernel/errors.ts';
import { type Ids, seededIds } from '@bubbles/kernel/ids.ts';
import { headerValues } from '../wire/framing.ts';

export const IDEMPOTENCY_KEY = 'Idempotency-Key';
export const IDEMPOTENCY_REPLAYED = 'Idempotency-Replayed';
export const IDEMPOTENCY_KEY_MAX_CHARACTERS = 255;
const VISIBLE_ASCII = /^[\x21-\x7e]{1,255}$/;

/** What a request was answered; its headers follow from its route. */
export interface KeptAnswer {
  readonly status: number;
  readonly body: string | null;
}

/** A request that is the caller's to act on until its lease ends. */
export interface ActedRequest {
  readonly id: string;
  /** The same in each run: what the request creates has ids that follow from it, so that a second run finds it. */
  readonly seed: Buffer;
  readonly leaseToken: string;
  /** Nobody can have acted on it before. */
  readonly isFirstRun: boolean;
}

export type Claim =
  | { readonly kind: 'mine'; readonly request: ActedRequest }
  | { readonly kind: 'answered'; readonly answer: KeptAnswer }
  | { readonly kind: 'in progress' }
  /** The key was used with another fingerprint. */
  | { readonly kind: 'another request' };

export interface IdempotencyStore {
  /** Only one of concurrent requests gets the claim; another one gets it when the lease expires without an answer. */
  claim(id: string, fingerprint: string): Promise<Claim>;
  /** From now on this is the answer. */
  keep(request: ActedRequest, answer: KeptAnswer): Promise<void>;
  /** The key is unused again. */
  forget(request: ActedRequest): Promise<void>;
  /** The next one may act on it, with the same seed. */
  release(request: ActedRequest): Promise<void>;
  ensureIndexes(): Promise<void>;
  /** Forgets keys that are older than a day. */
  sweep(): Promise<void>;
}

/** The `Idempotency-Key` of the request, or null. */
export const idempotencyKeyOf = (req: IncomingMessage): string | null => {
  if (req.headers['idempotency-key'] === undefined) return null;
  const [key = '', ...others] = headerValues(req, 'idempotency-key');
  if (others.length > 0) throw new DomainError('invalid', `${IDEMPOTENCY_KEY}: may be given once`);
  if (!VISIBLE_ASCII.test(key))
    throw new DomainError('invalid', `${IDEMPOTENCY_KEY}: must have 1 to ${IDEMPOTENCY_KEY_MAX_CHARACTERS} visible ASCII characters`);
  return key;
};

const digestOf = (text: string): string => createHash('sha256').update(text).digest('base64url');

/** Keys in order, so that equal values are equal bytes. */
export const canonicalJson = (value: unknown): string =>
  JSON.stringify(value, (_, inner: unknown) => (isPlainObject(inner) ? sorted(inner) : inner));

const isPlainObject = (value: unknown): value is object => typeof value === 'object' && value !== null && !Array.isArray(value);
const sorted = (value: object): object => Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));

/** A request with a key: its owner, route and body. */
interface KeyedRequest {
  readonly key: string;
  /** Owner of the key; only the owner gets the stored answer. */
  readonly owner: readonly (string | number)[];
  /** Method and path, ids included. */
  readonly route: readonly string[];
  /** The validated body, so that equivalent bodies count as the same request. */
  readonly body: unknown;
  readonly signal: AbortSignal;
}

/** Shorter than the time limit of a request and longer than a lease, so that a repeated request after a crash gets the answer. */
const WAIT_MS = 15_000;
const FIRST_POLL_MS = 20;
const MAX_POLL_MS = 500;

const inProgress = () =>
  new DomainError('out_of_order', `${IDEMPOTENCY_KEY}: the first request with this key is still in progress.`, { retryAfterSeconds: 1 });
const anotherRequest = () => new DomainError('invalid', `${IDEMPOTENCY_KEY}: was used with another request body.`);

/** A refusal comes before anything was changed; a fault may have come after. */
const isRefusal = (error: unknown): boolean => isDomainError(error) && error.kind !== 'unavailable' && error.kind !== 'internal';

type Act = (ids: Ids) => Promise<KeptAnswer>;
type ActOnce = (request: KeyedRequest, act: Act) => Promise<KeptAnswer & { readonly replayed: boolean }>;

/**
 * Waits for the end of the work where it is this process's, else a little longer each time; refuses when that has taken too long. In real time, as the
 * budget of the request: somebody holds a connection meanwhile.
 */
const patience = (signal: AbortSignal) => {
  const giveUpAt = performance.now() + WAIT_MS;
  let pollMs = FIRST_POLL_MS;
  return async (work: Promise<unknown> | undefined): Promise<void> => {
    const leftMs = giveUpAt - performance.now();
    if (leftMs <= 0) throw inProgress();
    const over = new AbortController();
    const ms = work === undefined ? Math.min(pollMs, leftMs) : leftMs;
    const timer = pause(ms, null, { signal: AbortSignal.any([over.signal, signal]) }).catch(() => null);
    await Promise.race([work ?? timer, timer]);
    over.abort();
    pollMs = Math.min(2 * pollMs, MAX_POLL_MS);
  };
};

/** Acts on a request once per key; concurrent requests with the same key wait for the answer. */
export const actOnce = (store: IdempotencyStore): ActOnce => {
  /** Those that this process acts on. They never reject. */
  const running = new Map<string, Promise<unknown>>();

  const run = async (request: ActedRequest, act: Act): Promise<KeptAnswer> => {
    try {
      const answer = await act(seededIds(request.seed));
      await store.keep(request, answer);
      return answer;
    } catch (error) {
      await (isRefusal(error) && request.isFirstRun ? store.forget(request) : store.release(request));
      throw error;
    }
  };
  const runHere = async (request: ActedRequest, act: Act): Promise<KeptAnswer> => {
    const work = run(request, act);
    const ended = Promise.allSettled([work]);
    running.set(request.id, ended);
    try {
      return await work;
    } finally {
      if (running.get(request.id) === ended) running.delete(request.id);
    }
  };

  return async ({ key, owner, route, body, signal }, act) => {
    const id = digestOf(JSON.stringify([...owner, ...route, key]));
    const fingerprint = digestOf(canonicalJson(body ?? null));
    const wait = patience(signal);
    for (;;) {
      signal.throwIfAborted();
      const claim = await store.claim(id, fingerprint);
      switch (claim.kind) {
        case 'mine':
          return { ...(await runHere(claim.request, act)), replayed: false };
        case 'answered':
          return { ...claim.answer, replayed: true };
        case 'another request':
          throw anotherRequest();
        case 'in progress':
          await wait(running.get(id));
      }
    }
  };
};
