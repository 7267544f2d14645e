import { errorCode } from '@bubbles/shared/errors.ts';

const REFUSED: ReadonlySet<string | number> = new Set(['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'ENOTFOUND']);
const RESET: ReadonlySet<string | number> = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE']);

/** Nothing was sent: any request may go to another replica. */
export const wasRefused = (error: unknown): boolean => REFUSED.has(errorCode(error) ?? '');

/** The connection broke before there was an answer: something may have been sent. */
export const wasCut = (error: unknown): boolean => RESET.has(errorCode(error) ?? '');
