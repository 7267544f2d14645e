import { DomainError } from '@bubbles/kernel/errors.ts';

/** The store did not answer in time, or at all. A write may have been made all the same. */
export const storeUnavailable = (cause: unknown) =>
  new DomainError('unavailable', 'The service is temporarily unavailable.', { cause, retryAfterSeconds: 1 });

/** The store was asked for something that it must not do: a fault of the code that asked. */
export const storeRefusal = (reason: string, cause?: unknown) =>
  new DomainError('internal', 'The store refused the operation.', { cause: new Error(reason, { cause }) });
