import { type Budget, budgetIn, RATE_WINDOW_SECONDS } from '@bubbles/contracts/access.ts';
import type { CountedElsewhere, CredentialCheck } from '@bubbles/contracts/internal/identity.ts';
import { CallRefused, createInternalClient, type InternalClient, type ServiceTokens } from '@bubbles/http/client/internal-client.ts';
import type { Clock } from '@bubbles/kernel/clock.ts';
import { DomainError, isDomainError } from '@bubbles/kernel/errors.ts';
import type { Exchange, GatewayReason } from '../exchange/exchange.ts';
import { type Address, bypassesBreaker, type Call, type CallResult, failureOf } from '../upstream/address.ts';
import type { AnswerHead } from '../upstream/relay.ts';
import { type CheckAnswer, CheckAnswers, type CheckResult } from './check-answers.ts';
import { CheckBatcher, type CheckedRequest, CheckWaitedTooLong } from './check-batcher.ts';

export const IDENTITY = 'identity-and-oauth';

/** Identity gave no answer. */
export interface Unanswered {
  readonly outcome: 'unanswered';
  readonly reason: GatewayReason;
  readonly error: unknown;
}

type AskingRequest = CheckedRequest & Pick<Exchange, 'caller'>;

export interface IdentityChecks {
  /** The hashes of credentials that were good a short time ago. */
  readonly known: { has(hash: string): boolean };
  /** May a request go to identity itself without a check? */
  mayRelay(hash: string, candidates: readonly Address[]): boolean;
  /** What identity answered a request of its own routes. */
  relayed(hash: string, answer: AnswerHead): void;
  /** Asks the first candidate, and the next one when that refuses, closes the connection, is silent or answers a 5xx. Callers take turns. */
  check(check: CredentialCheck, request: AskingRequest, candidates: readonly Address[]): Promise<CheckResult | Unanswered>;
  close(): Promise<void>;
}

interface IdentityChecksOptions {
  readonly tokens: ServiceTokens;
  readonly deadlineMs: number;
  readonly clock: Clock;
  /** Told the credentials of each call. */
  readonly perCall: { observe(size: number): void };
}

/** The calls of one address. */
interface AddressChecks {
  readonly client: InternalClient;
  readonly batcher: CheckBatcher;
  /** For checks that bypass an open breaker. */
  readonly bypassing: CheckBatcher;
}

export const createIdentityChecks = (options: IdentityChecksOptions): IdentityChecks => {
  const { clock } = options;
  const byAddress = new Map<Address, AddressChecks>();
  const known = new KnownCredentials(clock);
  const openChecks = (address: Address): AddressChecks => {
    const opened = checksOf(address, options);
    byAddress.set(address, opened);
    address.whenClosed(() => {
      if (byAddress.delete(address)) void opened.client.close();
    });
    return opened;
  };
  return {
    known,
    mayRelay: (hash, [first]) => known.has(hash) && (first === undefined || known.countedElsewhere(hash, first.origin) === null),
    relayed: (hash, answer) => known.relayed(hash, answer),
    check: (check, request, candidates) => {
      const turn = { caller: request.caller, known: known.has(check.h), request };
      return firstAnswer(candidates, async (address, failedElsewhere, onSilence) => {
        const { batcher, bypassing } = byAddress.get(address) ?? openChecks(address);
        const bypasses = !address.isReady() && (failedElsewhere || bypassesBreaker(candidates, address));
        const elsewhere = known.countedElsewhere(check.h, address.origin);
        const asked = elsewhere === null ? check : { ...check, counted_elsewhere: elsewhere };
        try {
          const answer = await (bypasses ? bypassing : batcher).submit(asked, turn, onSilence);
          if (answer.outcome === 'unknown') return { outcome: 'unanswered', reason: 'upstream-down', error: new UnknownOutcome() };
          known.checked(address.origin, answer);
          return answer;
        } catch (error) {
          return { outcome: 'unanswered', reason: reasonOf(error), error };
        }
      });
    },
    close: async () => {
      const open = [...byAddress.values()];
      byAddress.clear();
      await Promise.all(open.map(({ client }) => client.close()));
    },
  };
};

type Ask = (address: Address, failedElsewhere: boolean, onSilence: () => void) => Promise<CheckResult | Unanswered>;

/** A check that was asked twice counts twice at most, and lets nobody in: the next replica may be asked while the first one is silent. */
const firstAnswer = (candidates: readonly Address[], ask: Ask): Promise<CheckResult | Unanswered> => {
  const { promise, resolve } = Promise.withResolvers<CheckResult | Unanswered>();
  const untried = [...candidates];
  let pending = 0;
  let last: Unanswered = { outcome: 'unanswered', reason: 'upstream-down', error: null };
  let failedElsewhere = false;
  const askNext = async (): Promise<void> => {
    const address = untried.shift();
    if (address !== undefined) {
      let toldSilent = false;
      const onSilence = () => {
        if (!toldSilent) void askNext();
        toldSilent = true;
      };
      pending += 1;
      const answer = await ask(address, failedElsewhere, onSilence);
      pending -= 1;
      if (answer.outcome !== 'unanswered') return resolve(answer);
      last = answer;
      failedElsewhere = wasUnreachable(answer);
      if (untried.length > 0 && mayAskAnother(answer)) return askNext();
    }
    if (pending === 0) resolve(last);
  };
  void askNext();
  return promise;
};

const checksOf = (address: Address, { tokens, deadlineMs, clock, perCall }: IdentityChecksOptions): AddressChecks => {
  const client = createInternalClient({ callee: IDENTITY, baseUrls: [address.origin], tokens, deadlineMs });
  const batcher = (bypasses: boolean) =>
    new CheckBatcher({
      send: (checks) => {
        const call = address.begin(bypasses);
        if (call === null) throw new BreakerOpen();
        return { isSilent: () => call.isSilent(), answers: answersOf(client, checks, call) };
      },
      perCall,
      clock,
      atEndOfTurn: setImmediate,
    });
  return { client, batcher: batcher(false), bypassing: batcher(true) };
};

class BreakerOpen extends DomainError {
  constructor() {
    super('unavailable', 'The circuit breaker of identity is open.');
  }
}

class UnknownOutcome extends DomainError {
  constructor() {
    super('unavailable', 'Identity decided about a credential in a way that this release does not know.');
  }
}

/** One call, one result for the breaker, however many checks it carries. */
const answersOf = async (client: InternalClient, checks: readonly CredentialCheck[], call: Call): Promise<readonly CheckAnswer[]> => {
  try {
    const { answers } = await client.post('/internal/v1/checks', { schema: CheckAnswers, body: { checks } });
    call.end('answered');
    return answers;
  } catch (error) {
    call.end(callResultOf(causeOf(error)));
    throw error;
  }
};

/** Names of the errors of a call that was answered: with a refusal, or with something else than was asked for. */
const ANSWERED: readonly string[] = ['CallRefused', 'ZodError', 'SyntaxError'];

const callResultOf = (cause: unknown): CallResult => {
  if (isTimeout(cause)) return 'timed-out';
  return Error.isError(cause) && ANSWERED.includes(cause.name) ? 'answered' : failureOf(cause);
};

const causeOf = (error: unknown): unknown => (isDomainError(error) ? error.cause : error);
const isTimeout = (cause: unknown): boolean => Error.isError(cause) && cause.name === 'TimeoutError';

const UNREACHABLE: readonly string[] = ['refused', 'cut'];
const wasUnreachable = ({ error }: Unanswered): boolean => isDomainError(error) && UNREACHABLE.includes(failureOf(error.cause));

const mayAskAnother = (last: Unanswered): boolean =>
  last.reason === 'breaker' || last.reason === 'upstream-timeout' || wasUnreachable(last) || wasFaulty(last);

/** The replica's own fault: its store is away, or it has too much to do. */
const wasFaulty = ({ error }: Unanswered): boolean => {
  const cause = causeOf(error);
  return cause instanceof CallRefused && cause.status >= 500;
};

const reasonOf = (error: unknown): GatewayReason => {
  if (error instanceof CheckWaitedTooLong) return 'overload';
  if (error instanceof BreakerOpen) return 'breaker';
  const cause = causeOf(error);
  if (cause instanceof CallRefused && cause.isOverload) return 'overload';
  return isTimeout(cause) ? 'upstream-timeout' : 'upstream-down';
};

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
class KnownCredentials {
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
  checked(origin: string, answer: CheckResult): void {
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
