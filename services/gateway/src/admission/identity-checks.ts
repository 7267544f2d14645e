import { type CheckAnswer, ChecksResponse, type CredentialCheck } from '@bubbles/contracts/internal/checks.ts';
import { type InternalClient, internalClient } from '@bubbles/http/client/internal-client.ts';
import type { ServiceTokens } from '@bubbles/http/routes/internal-auth.ts';
import type { Clock } from '@bubbles/kernel/clock.ts';
import { DomainError, isDomainError } from '@bubbles/kernel/errors.ts';
import type { GatewayReason } from '../exchange/exchange.ts';
import { type Address, breakerBypass, type Call, failureOf } from '../upstream/address.ts';
import type { AnswerHead } from '../upstream/relay.ts';
import { type CheckBatcher, CheckWaitedTooLong, checkBatcher } from './check-batcher.ts';
import { knownCredentials } from './known-credentials.ts';

export const IDENTITY = 'identity-and-oauth';

/** Identity gave no answer. */
export interface Unanswered {
  readonly outcome: 'unanswered';
  readonly reason: GatewayReason;
  readonly error: unknown;
}

export interface IdentityChecks {
  /** Was this credential good a short time ago, by its hash? It gets no further by that, but its turn is its own. */
  isKnown(hash: string): boolean;
  /** Need nothing be asked before a request goes to identity itself? */
  mayRelay(hash: string, candidates: readonly Address[]): boolean;
  /** What identity answered a request of its own routes. */
  relayed(hash: string, answer: AnswerHead): void;
  /** Asks the first of the candidates; the next one too when it refuses or ends the connection, or is silent. `caller`: under which name it takes turns. */
  check(check: CredentialCheck, caller: string, candidates: readonly Address[]): Promise<CheckAnswer | Unanswered>;
  close(): Promise<void>;
}

interface IdentityChecksOptions {
  readonly tokens: ServiceTokens;
  readonly deadlineMs: number;
  readonly clock: Clock;
  readonly onBatch: (size: number) => void;
}

interface Line {
  readonly client: InternalClient;
  readonly batcher: CheckBatcher;
  /** For those that bypass an open breaker. */
  readonly bypassing: CheckBatcher;
}

export const identityChecks = ({ tokens, deadlineMs, clock, onBatch }: IdentityChecksOptions): IdentityChecks => {
  const lines = new Map<Address, Line>();
  const known = knownCredentials(() => clock.monotonic());
  const lineTo = (address: Address): Line => {
    const open = lines.get(address);
    if (open !== undefined) return open;
    const client = internalClient({ callee: IDENTITY, baseUrls: [address.origin], tokens, deadlineMs });
    const shared = { onBatch, now: () => clock.monotonic(), atEndOfTurn: setImmediate };
    const batcher = (insists: boolean) => checkBatcher({ send: sending(address, client, insists), ...shared });
    const line = { client, batcher: batcher(false), bypassing: batcher(true) };
    lines.set(address, line);
    address.whenClosed(() => {
      if (lines.delete(address)) void client.close();
    });
    return line;
  };
  return {
    isKnown: known.has,
    mayRelay: (hash, [first]) => known.has(hash) && (first === undefined || known.countedElsewhere(hash, first.origin) === null),
    relayed: known.relayed,
    check: (check, caller, candidates) => {
      const bypasses = breakerBypass(candidates);
      const turn = { caller, known: known.has(check.h) };
      const ask = (address: Address, left: boolean, onSilence: () => void) => {
        const { batcher, bypassing } = lineTo(address);
        const chosen = !address.isReady() && bypasses(address, left) ? bypassing : batcher;
        const elsewhere = known.countedElsewhere(check.h, address.origin);
        const asked = chosen.submit(elsewhere === null ? check : { ...check, counted_elsewhere: elsewhere }, turn, onSilence);
        return asked.then((answer) => known.answered(address.origin, answer), unanswered);
      };
      return firstAnswer(candidates, ask);
    },
    close: async () => {
      const open = [...lines.values()];
      lines.clear();
      await Promise.all(open.map(({ client }) => client.close()));
    },
  };
};

type Ask = (address: Address, left: boolean, onSilence: () => void) => Promise<CheckAnswer | Unanswered>;

/** A check that was asked twice counts twice at most, and lets nobody in: the next replica may be asked while the first one is silent. */
const firstAnswer = (candidates: readonly Address[], ask: Ask): Promise<CheckAnswer | Unanswered> => {
  const { promise, resolve } = Promise.withResolvers<CheckAnswer | Unanswered>();
  const untried = [...candidates];
  let pending = 0;
  let last: Unanswered = { outcome: 'unanswered', reason: 'upstream-down', error: null };
  const askNext = async (): Promise<void> => {
    const address = untried.shift();
    if (address !== undefined) {
      pending += 1;
      const answer = await ask(address, hasGone(last), once(askNext));
      pending -= 1;
      if (answer.outcome !== 'unanswered') return resolve(answer);
      last = answer;
      if (untried.length > 0 && mayAskAnother(answer)) return askNext();
    }
    if (pending === 0) resolve(last);
  };
  void askNext();
  return promise;
};

const once = (act: () => Promise<void>): (() => void) => {
  let done = false;
  return () => {
    if (!done) void act();
    done = true;
  };
};

class BreakerOpen extends DomainError {
  constructor() {
    super('unavailable', 'Identity is given a pause.');
  }
}

/** One call, one outcome for the breaker, however many checks it carries. */
const sending = (address: Address, client: InternalClient, insists: boolean) => (checks: readonly CredentialCheck[]) => {
  if (!address.admits(insists)) throw new BreakerOpen();
  const call = address.begin();
  return { isSilent: call.isSilent, answers: answersOf(client, checks, call) };
};

const answersOf = async (client: InternalClient, checks: readonly CredentialCheck[], call: Call): Promise<readonly CheckAnswer[]> => {
  try {
    const { answers } = await client.post('/internal/v1/checks', { schema: ChecksResponse, body: { checks } });
    call.end('answered');
    return answers;
  } catch (error) {
    const cause = causeOf(error);
    call.end(isTimeout(cause) ? 'timed-out' : failureOf(cause));
    throw error;
  }
};

const causeOf = (error: unknown): unknown => (isDomainError(error) ? error.cause : error);
const isTimeout = (cause: unknown): boolean => Error.isError(cause) && cause.name === 'TimeoutError';

const unanswered = (error: unknown): Unanswered => ({ outcome: 'unanswered', reason: reasonOf(error), error });

const hasGone = ({ error }: Unanswered): boolean => isDomainError(error) && failureOf(error.cause) !== 'failed';

const mayAskAnother = (last: Unanswered): boolean => last.reason === 'breaker' || last.reason === 'upstream-timeout' || hasGone(last);

const reasonOf = (error: unknown): GatewayReason => {
  if (error instanceof CheckWaitedTooLong) return 'overload';
  if (error instanceof BreakerOpen) return 'breaker';
  return isTimeout(causeOf(error)) ? 'upstream-timeout' : 'upstream-down';
};
