import { AsyncLocalStorage } from 'node:async_hooks';
import { type DestinationStream, pino } from 'pino';
import { redacted } from './redact.ts';

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

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';

export interface LogOptions {
  /** The service's name. */
  readonly name: string;
  readonly level: LogLevel;
  /** Where the lines go; standard output when absent. */
  readonly destination?: DestinationStream;
}

/** Fields with these names never carry their value, whatever it is. */
const SECRET_FIELD = /authorization|cookie|password|passcode|secret|token|signup_session|code_verifier|assertion/i;
const HIDDEN = '[redacted]';
const MAX_DEPTH = 6;

/** A value as it may be written: errors with their causes, no credentials, nothing bottomless. */
const writable = (value: unknown, depth = 0): unknown => {
  if (typeof value === 'string') return redacted(value);
  if (typeof value === 'bigint' || typeof value === 'function' || typeof value === 'symbol') return String(value);
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  if (depth >= MAX_DEPTH) return '[deep]';
  if (Error.isError(value)) return writableError(value, depth);
  if (Array.isArray(value)) return value.map((inner) => writable(inner, depth + 1));
  return writableFields(value, depth);
};

const writableFields = (fields: object, depth: number): object =>
  Object.fromEntries(
    Object.entries(fields).map(([key, inner]) => [key, SECRET_FIELD.test(key) && inner !== null ? HIDDEN : writable(inner, depth + 1)]),
  );

const writableError = (error: Error, depth: number): object => ({
  name: error.name,
  message: redacted(error.message),
  ...('kind' in error && { kind: writable(error.kind, depth + 1) }),
  ...('code' in error && { code: writable(error.code, depth + 1) }),
  at: frames(error),
  ...(error.cause !== undefined && { cause: writable(error.cause, depth + 1) }),
});

/** Without the message, which may have been cut apart by line breaks of its own. */
const frames = (error: Error): readonly string[] =>
  (error.stack ?? '')
    .split('\n')
    .filter((line) => line.startsWith('    at '))
    .map((line) => redacted(line.trim()));

/** JSON lines; every one carries the fields of `withLogFields` that it is written within. */
export const createLog = ({ name, level, destination }: LogOptions): Log => {
  const options = {
    level,
    base: { service: name },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    mixin: () => ({ ...context.getStore() }),
    messageKey: 'message',
  };
  return adapt(destination ? pino(options, destination) : pino(options));
};

type PinoLogger = ReturnType<typeof pino>;

const adapt = (logger: PinoLogger): Log => {
  const write =
    (level: 'debug' | 'info' | 'warn' | 'error') =>
    (message: string, fields: LogFields = {}): void => {
      if (logger.isLevelEnabled(level)) logger[level](writableFields(fields, 0), redacted(message));
    };
  return {
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    child: (fields) => adapt(logger.child(writableFields(fields, 0))),
  };
};
