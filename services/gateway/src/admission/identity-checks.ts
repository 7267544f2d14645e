import { type CheckAnswer, ChecksResponse, type CredentialCheck } from '@bubbles/contracts/internal/checks.ts';
import { DomainError, isDomainError } from '@bubbles/shared/errors.ts';
import type { ServiceTokens } from '@bubbles/shared/http/internal-auth.ts';
import { type InternalClient, internalClient } from '@bubbles/shared/http/internal-client.ts';
import type { GatewayReason } from '../edge/exchange.ts';
import { type Address, failureOf, insistence } from '../upstream/address.ts';
import { type CheckBatcher, CheckQueueFull, checkBatcher } from './check-batcher.ts';

export const IDENTITY = 'identity-and-oauth';

/** Identity gave no answer. */
export interface Unanswered {
  readonly outcome: 'unanswered';
  readonly reason: GatewayReason;
  readonly error: unknown;
}

export interface IdentityChecks {
  /** Asks the first of the candidates, and the next when one refuses the connection or ends it. */
  check(check: CredentialCheck, candidates: readonly Address[]): Promise<CheckAnswer | Unanswered>;
  close(): Promise<void>;
}

interface IdentityChecksOptions {
  readonly tokens: ServiceTokens;
  readonly deadlineMs: number;
  readonly onBatch: (size: number) => void;
}

interface Line {
  readonly client: InternalClient;
  readonly batcher: CheckBatcher;
  /** For those who insist. */
  readonly insisting: CheckBatcher;
}

export const identityChecks = ({ tokens, deadlineMs, onBatch }: IdentityChecksOptions): IdentityChecks => {
  const lines = new Map<Address, Line>();
  const lineTo = (address: Address): Line => {
    const known = lines.get(address);
    if (known !== undefined) return known;
    const client = internalClient({ callee: IDENTITY, baseUrls: [address.origin], tokens, deadlineMs });
    const line = {
      client,
      batcher: checkBatcher({ send: (checks) => callUnlessSpared(address, client, checks), onBatch }),
      insisting: checkBatcher({ send: (checks) => call(address, client, checks), onBatch }),
    };
    lines.set(address, line);
    address.whenClosed(() => {
      if (lines.delete(address)) void client.close();
    });
    return line;
  };
  return {
    check: async (check, candidates) => {
      let last: Unanswered = { outcome: 'unanswered', reason: 'upstream-down', error: null };
      const insists = insistence(candidates);
      for (const address of candidates) {
        const { batcher, insisting } = lineTo(address);
        const answer = await ask(!address.isReady() && insists(address, hasGone(last)) ? insisting : batcher, check);
        if (answer.outcome !== 'unanswered') return answer;
        last = answer;
        if (!mayAskAnother(answer)) break;
      }
      return last;
    },
    close: async () => {
      const open = [...lines.values()];
      lines.clear();
      await Promise.all(open.map(({ client }) => client.close()));
    },
  };
};

class BreakerOpen extends DomainError {
  constructor() {
    super('unavailable', 'Identity is given a pause.');
  }
}

const callUnlessSpared = (address: Address, client: InternalClient, checks: readonly CredentialCheck[]): Promise<readonly CheckAnswer[]> =>
  address.admits() ? call(address, client, checks) : Promise.reject(new BreakerOpen());

/** One call, one outcome for the breaker, however many checks it carries. */
const call = async (address: Address, client: InternalClient, checks: readonly CredentialCheck[]): Promise<readonly CheckAnswer[]> => {
  try {
    const { answers } = await client.post('/internal/v1/checks', { schema: ChecksResponse, body: { checks } });
    address.record('answered');
    return answers;
  } catch (error) {
    address.record(failureOf(isDomainError(error) ? error.cause : error));
    throw error;
  }
};

const ask = async (batcher: CheckBatcher, check: CredentialCheck): Promise<CheckAnswer | Unanswered> => {
  try {
    return await batcher.submit(check);
  } catch (error) {
    return { outcome: 'unanswered', reason: reasonOf(error), error };
  }
};

const hasGone = ({ error }: Unanswered): boolean => isDomainError(error) && failureOf(error.cause) === 'gone';

/** A check that was asked twice counts twice at most, and lets nobody in. */
const mayAskAnother = (last: Unanswered): boolean => last.reason === 'breaker' || hasGone(last);

const reasonOf = (error: unknown): GatewayReason => {
  if (error instanceof CheckQueueFull) return 'overload';
  if (error instanceof BreakerOpen) return 'breaker';
  const cause = isDomainError(error) ? error.cause : error;
  return Error.isError(cause) && cause.name === 'TimeoutError' ? 'upstream-timeout' : 'upstream-down';
};
