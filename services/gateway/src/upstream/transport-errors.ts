import { errorCode } from '@bubbles/kernel/errors.ts';

const REFUSED: ReadonlySet<string | number> = new Set(['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'ENOTFOUND']);
const RESET: ReadonlySet<string | number> = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE']);

/** A server that goes resets whom it has not taken yet, some of them before they know that they were connected. */
const wasConnecting = (error: unknown): boolean => Error.isError(error) && 'syscall' in error && error.syscall === 'connect';

/** Nothing was sent: any request may go to another replica. */
export const wasRefused = (error: unknown): boolean => REFUSED.has(errorCode(error) ?? '') || (isReset(error) && wasConnecting(error));

/** The connection broke before there was an answer: something may have been sent. */
export const wasCut = (error: unknown): boolean => isReset(error) && !wasConnecting(error);

const isReset = (error: unknown): boolean => RESET.has(errorCode(error) ?? '');
