import { readBody } from '@bubbles/http/wire/read-body.ts';
import { DomainError, isDomainError } from '@bubbles/kernel/errors.ts';
import type { MemoryShares } from '../balancing/memory-shares.ts';
import { type Exchange, fail, refuse } from './exchange.ts';

interface BodyReceiverOptions {
  readonly bodies: MemoryShares;
  /** From when the body is asked for. */
  readonly timeoutMs: number;
}

const LATE = new DomainError('invalid', 'body: not received in time');
/** Its sender holds more than its share of unfinished bodies, this one longest. */
const EVICTED = new DomainError('unavailable', 'Too many unfinished bodies.');

/** Reads a body whole before a connection to a service is taken, so that a slow sender delays nobody else. Answers refusals itself and gives null then. */
export const createBodyReceiver =
  ({ bodies, timeoutMs }: BodyReceiverOptions) =>
  async (exchange: Exchange, limitBytes: number): Promise<Buffer | null> => {
    const { req, res } = exchange;
    try {
      // What has come already is in memory as it is.
      if (req.complete) return await readBody(req, res, { limitBytes });
      const controller = new AbortController();
      const { signal } = controller;
      const timer = setTimeout(() => controller.abort(LATE), timeoutMs);
      const hold = bodies.hold(exchange.network, () => controller.abort(EVICTED));
      try {
        return await readBody(req, res, { limitBytes, received: hold.grow, signal });
      } finally {
        clearTimeout(timer);
        hold.release();
      }
    } catch (error) {
      if (!isDomainError(error)) throw error;
      if (error === EVICTED) fail(exchange, 'overload');
      else refuse(exchange, { error });
      return null;
    }
  };
