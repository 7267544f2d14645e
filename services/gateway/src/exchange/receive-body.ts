import { readBody } from '@bubbles/http/wire/read-body.ts';
import { DomainError, isDomainError } from '@bubbles/kernel/errors.ts';
import type { BodyAllowance } from '../balancing/body-allowance.ts';
import type { MemoryShares } from '../balancing/memory-shares.ts';
import type { Operation } from '../documents/fragment.ts';
import { type Exchange, fail, refuse } from './exchange.ts';

interface BodyReceiverOptions {
  readonly bodies: MemoryShares;
  readonly allowance: BodyAllowance;
  /** From when the body is asked for. */
  readonly timeoutMs: number;
}

const LATE = new DomainError('invalid', 'body: not received in time');
/** Its sender holds more than its share of unfinished bodies, this one longest. */
const EVICTED = new DomainError('unavailable', 'Too many unfinished bodies.');

/** Reads a body whole before a connection to a service is taken, so that a slow sender delays nobody else. Answers refusals itself and gives null then. */
export const createBodyReceiver = (options: BodyReceiverOptions) => {
  const read = bodyReader(options);
  return async (exchange: Exchange, { auth, bodyLimitBytes }: Operation): Promise<Buffer | null> => {
    // Nobody has counted a request without a credential: the network that sends it may send so much.
    const allowance = auth === 'none' ? options.allowance : UNLIMITED;
    let bytes = 0;
    const count = (more: number) => {
      bytes += more;
    };
    try {
      const retryAfterSeconds = allowance.waitSeconds(exchange.network);
      if (retryAfterSeconds !== null) throw new DomainError('rate_limited', TOO_MANY_BYTES, { retryAfterSeconds });
      return await read(exchange, { limitBytes: bodyLimitBytes, count });
    } catch (error) {
      if (!isDomainError(error)) throw error;
      if (error === EVICTED) fail(exchange, 'overload');
      else refuse(exchange, { error });
      return null;
    } finally {
      allowance.spend(exchange.network, bytes);
    }
  };
};

const UNLIMITED: BodyAllowance = { waitSeconds: () => null, spend: () => undefined };
const TOO_MANY_BYTES = 'Too many bytes in requests without a credential.';

interface Reading {
  readonly limitBytes: number;
  readonly count: (bytes: number) => void;
}

const bodyReader =
  ({ bodies, timeoutMs }: BodyReceiverOptions) =>
  async ({ req, res, network }: Exchange, { limitBytes, count }: Reading): Promise<Buffer> => {
    // What has come already is in memory as it is.
    if (req.complete) return readBody(req, res, { limitBytes, received: count });
    const controller = new AbortController();
    const { signal } = controller;
    const timer = setTimeout(() => controller.abort(LATE), timeoutMs);
    const hold = bodies.hold(network, () => controller.abort(EVICTED));
    const received = (bytes: number) => {
      count(bytes);
      hold.grow(bytes);
    };
    try {
      return await readBody(req, res, { limitBytes, received, signal });
    } finally {
      clearTimeout(timer);
      hold.release();
    }
  };
