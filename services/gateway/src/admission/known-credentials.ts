import { type Budget, budgetIn, RATE_WINDOW_SECONDS } from '@bubbles/contracts/access.ts';
import type { CheckAnswer, CountedElsewhere } from '@bubbles/contracts/internal/checks.ts';
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
export const knownCredentials = (now: () => number) => {
  const known = new Map<string, Counted | null>();
  const remember = (hash: string, counted: Counted | null): void => {
    known.delete(hash);
    known.set(hash, counted);
    if (known.size > MAX_KNOWN) for (const oldest of known.keys().take(1)) known.delete(oldest);
  };
  const counted = (origin: string, { limit, remaining, resetSeconds }: Budget): Counted => {
    const lastAt = now();
    return { origin, requests: limit - remaining, firstAt: Math.min(lastAt, lastAt + resetSeconds * 1000 - WINDOW_MS), lastAt };
  };
  return {
    has: (hash: string): boolean => known.has(hash),
    /** What another replica than this one has counted within the window; null when none has. */
    countedElsewhere: (hash: string, origin: string): CountedElsewhere | null => {
      const last = known.get(hash) ?? null;
      const [nowMs, from] = [now(), last?.origin];
      if (last === null || last.requests === 0 || from === origin || nowMs - last.lastAt >= WINDOW_MS) return null;
      return { requests: last.requests, first_ms_ago: Math.round(nowMs - last.firstAt), last_ms_ago: Math.round(nowMs - last.lastAt) };
    },
    answered: (origin: string, answer: CheckAnswer): CheckAnswer => {
      if (answer.outcome === 'refused') known.delete(answer.h);
      else remember(answer.h, counted(origin, { ...answer, resetSeconds: answer.reset_seconds }));
      return answer;
    },
    /** One that was refused is asked about first when it comes again. */
    relayed: (hash: string, { origin, status, headers }: AnswerHead): void => {
      const budget = budgetIn(headers);
      if (status === 401) known.delete(hash);
      else if (budget !== null) remember(hash, counted(origin, budget));
    },
  };
};
