import { DomainError, type ErrorKind } from '@bubbles/kernel/errors.ts';
import { CallRefused, type InternalClient } from './internal-client.ts';

/** What the service says to the user: the rest is a fault between the two services. */
const KINDS: ReadonlyMap<number, ErrorKind> = new Map([
  [400, 'invalid'],
  [403, 'forbidden'],
  [404, 'not_found'],
  [409, 'limit_reached'],
  [429, 'rate_limited'],
]);

const refusalIn = (error: unknown): DomainError | null => {
  const cause = Error.isError(error) ? error.cause : null;
  const kind = cause instanceof CallRefused ? KINDS.get(cause.status) : undefined;
  if (!(cause instanceof CallRefused) || kind === undefined) return null;
  const { message, type, retryAfterSeconds } = cause;
  return new DomainError(kind, message, { cause, type, ...(retryAfterSeconds !== null && { retryAfterSeconds }) });
};

/**
 * Calls the public routes of a service for a user. `assertion` is what identity says of the user to that service: no token of the user is passed on. What the
 * service refuses is rejected in its own words.
 */
export const callsFor = (client: InternalClient, assertion: string): InternalClient['send'] => {
  return async (method, path, call) => {
    try {
      return await client.send(method, path, { ...call, assertion });
    } catch (error) {
      throw refusalIn(error) ?? error;
    }
  };
};
