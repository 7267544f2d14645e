import { AsyncLocalStorage } from 'node:async_hooks';
import { pino } from 'pino';

export type LogFields = Readonly<Record<string, unknown>>;

/** One JSON line an event. Never put a token, code, secret, passcode or a URL with a query in it. */
export interface Log {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  child(fields: LogFields): Log;
}

const context = new AsyncLocalStorage<LogFields>();
/** Every line written inside `work` carries `fields` (the request id). */
export const withLogFields = <T>(fields: LogFields, work: () => T): T => context.run({ ...context.getStore(), ...fields }, work);

/** The request id of the work at hand, or null outside a request. */
export const currentRequestId = (): string | null => {
  const id = context.getStore()?.['request_id'];
  return typeof id === 'string' ? id : null;
};
