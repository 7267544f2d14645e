import { type Budget, budgetIn, RATE_WINDOW_SECONDS } from '@bubbles/contracts/access.ts';
import type { CheckAnswer, CountedElsewhere } from '@bubbles/contracts/internal/checks.ts';
import type { Clock } from '@bubbles/kernel/clock.ts';
import type { AnswerHead } from '../upstream/relay.ts';

/** What a replica of identity has counted of a credential. Times are monotonic milliseconds. */
interface Counted {
  readonly origin: string;
  readonly requests: number;
  readonly firstAt: number;
  readonly lastAt: number;
}

const MAX_KNOWN = 50_000;
const WINDOW_MS = RATE_WINDOW_SECONDS * 1000;

/** Credentials that were good when identity was asked last, by their hash, with what it has counted; the longest unused are forgotten. */
export class KnownCredentials {
  readonly #clock: Clock;
  readonly #known = new Map<string, Counted>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  has(hash: string): boolean {
    return this.#known.has(hash);
  }

  /** What another replica than this one has counted within the window; null when none has. */
  countedElsewhere(hash: string, origin: string): CountedElsewhere | null {
    const last = this.#known.get(hash);
    if (last === undefined || last.requests === 0 || last.origin === origin) return null;
    const now = this.#clock.monotonic();
    if (now - last.lastAt >= WINDOW_MS) return null;
    return { requests: last.requests, first_ms_ago: Math.round(now - last.firstAt), last_ms_ago: Math.round(now - last.lastAt) };
  }

  /** What a replica answered to a check. */
  checked(origin: string, answer: CheckAnswer): void {
    if (answer.outcome === 'refused') this.#known.delete(answer.h);
    else this.#remember(answer.h, origin, { ...answer, resetSeconds: answer.reset_seconds });
  }

  /** What a replica answered to a request of its own routes. A credential that was refused is checked first when it comes again. */
  relayed(hash: string, { origin, status, headers }: AnswerHead): void {
    const budget = budgetIn(headers);
    if (status === 401) this.#known.delete(hash);
    else if (budget !== null) this.#remember(hash, origin, budget);
  }

  #remember(hash: string, origin: string, { limit, remaining, resetSeconds }: Budget): void {
    const lastAt = this.#clock.monotonic();
    const firstAt = Math.min(lastAt, lastAt + resetSeconds * 1000 - WINDOW_MS);
    this.#known.delete(hash);
    this.#known.set(hash, { origin, requests: limit - remaining, firstAt, lastAt });
    if (this.#known.size > MAX_KNOWN) for (const oldest of this.#known.keys().take(1)) this.#known.delete(oldest);
  }
}
