import { type DestinationStream, pino } from 'pino';
import { currentFields } from './trace.ts';

export type LogFields = Readonly<Record<string, unknown>>;

/** One JSON line an event. Never put a token, code, secret, passcode or a URL with a query in it. */
export interface Log {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  child(fields: LogFields): Log;
}

const HIDDEN = '[redacted]';

/** What a text may hold under a name and is nobody's business. */
const SECRET_NAMES =
  'code|token|access_token|refresh_token|id_token|registration_access_token|client_secret|client_assertion|csrf|signup_session|code_verifier|password|passcode|pwd';

/** User and password of a URL, tokens by their prefix or scheme, cookies, and values by their name. Each pattern has a fixed start, so that no text is scanned twice. */
const SECRETS: readonly (readonly [RegExp, string])[] = [
  [/:\/\/[^\s/?#"'<>]*@/g, `://${HIDDEN}@`],
  // Every kind of token of ours has a prefix of this form.
  [/\b(svc_[a-z]+_|whsec_)[A-Za-z0-9_-]+/g, `$1${HIDDEN}`],
  [/\b(Bearer|Basic)\s+[A-Za-z0-9._~+/=-]+/gi, `$1 ${HIDDEN}`],
  [/\b(Set-Cookie|Cookie): ?[^\r\n]+/gi, `$1: ${HIDDEN}`],
  [/(__(?:Host|Secure)-[a-z-]+|\b(?:session|sign-in|authorization))=[^\s;,"']+/gi, `$1=${HIDDEN}`],
  [new RegExp(`\\b(${SECRET_NAMES})=[^\\s&"'#]+`, 'gi'), `$1=${HIDDEN}`],
  [new RegExp(`"(${SECRET_NAMES})": ?"[^"]*`, 'gi'), `"$1":"${HIDDEN}`],
];

/** Three or more parts between dots; a JWT may begin at any of them. */
const DOTTED = /(?<![A-Za-z0-9_-])[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_.-]*/g;
const JWT = /\beyJ.*/;

/** Every secret that is looked for has one of these. Most fields have none: a method, a status, an id. */
const MAY_HOLD_SECRET = /[=:._\s]/;

/** Longer texts are cut: a regular expression that walks through megabytes can exhaust its stack and throw. */
const MAX_TEXT = 64 * 1024;

/** Cut between two words, since half a secret may not have the form by which it is known. */
const shortened = (text: string): string => {
  if (text.length <= MAX_TEXT) return text;
  const kept = text.slice(0, Math.max(0, text.lastIndexOf(' ', MAX_TEXT)));
  return `${kept} [cut, ${text.length} characters]`;
};

/** The last line of defence against secrets in log lines, such as those that drivers put into their messages. */
export const redacted = (text: string): string => (MAY_HOLD_SECRET.test(text) ? withoutSecrets(shortened(text)) : text);

const withoutSecrets = (text: string): string =>
  SECRETS.reduce((safe, [pattern, replacement]) => safe.replace(pattern, replacement), text).replace(DOTTED, (parts) =>
    parts.replace(JWT, HIDDEN),
  );

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';

export interface LogOptions {
  /** The service's name. */
  readonly name: string;
  readonly level: LogLevel;
  /** Where the lines go. */
  readonly destination: DestinationStream;
  /** A monotonic clock; the system's when absent. */
  readonly nowMs?: () => number;
}

/** Fields with these names never carry their value, whatever it is. */
const SECRET_FIELD = /authorization|cookie|password|passcode|secret|token|csrf|signup_session|code_verifier|assertion/i;
const MAX_DEPTH = 6;

/** The stack frames of one fault are written this often; the lines in between have a count of repeats instead. */
const FRAMES_EVERY_MS = 60_000;
const MOST_FAULTS = 256;

/** The faults of a process, by where they were thrown. */
const createFaultMemory = (nowMs: () => number) => {
  const faults = new Map<string, { readonly writtenAt: number; repeats: number }>();
  return {
    /** How often the fault came since its frames were written; null when it is too early to write them again. */
    repeatsToTell(error: Error): number | null {
      const key = faultKey(error);
      const known = faults.get(key);
      if (known !== undefined && nowMs() - known.writtenAt < FRAMES_EVERY_MS) {
        known.repeats += 1;
        return null;
      }
      faults.delete(key);
      faults.set(key, { writtenAt: nowMs(), repeats: 0 });
      const [oldest = key] = faults.keys();
      if (faults.size > MOST_FAULTS) faults.delete(oldest);
      return known?.repeats ?? 0;
    },
  };
};

const FIRST_FRAME = /\n {4}at .*/;

const faultKey = (error: Error, depth = 0): string => {
  const own = `${error.name}${FIRST_FRAME.exec(error.stack ?? '')?.[0] ?? error.message}`;
  return Error.isError(error.cause) && depth < MAX_DEPTH ? `${own}\n${faultKey(error.cause, depth + 1)}` : own;
};

/** Turns fields into what may be written: errors with their causes, no credentials, limited depth. */
const createFieldWriter = (nowMs: () => number) => {
  const faults = createFaultMemory(nowMs);
  const writable = (value: unknown, depth: number): unknown => {
    if (typeof value === 'string') return redacted(value);
    if (typeof value === 'bigint' || typeof value === 'function' || typeof value === 'symbol') return String(value);
    if (typeof value !== 'object' || value === null || value instanceof Date) return value;
    if (depth >= MAX_DEPTH) return '[deep]';
    if (Error.isError(value)) return writableFault(value, depth);
    if (Array.isArray(value)) return value.map((inner) => writable(inner, depth + 1));
    return writableFields(value, depth);
  };
  const writableField = (key: string, value: unknown, depth: number): unknown =>
    SECRET_FIELD.test(key) && value !== null ? HIDDEN : writable(value, depth);
  const writableFields = (fields: object, depth: number): object =>
    Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, writableField(key, value, depth + 1)]));
  const writableFault = (error: Error, depth: number): object => {
    const repeats = faults.repeatsToTell(error);
    return { ...writableError(error, depth, repeats !== null), ...(repeats && { repeats }) };
  };
  const writableError = (error: Error, depth: number, withFrames: boolean): object => ({
    name: error.name,
    message: redacted(error.message),
    ...('kind' in error && { kind: writable(error.kind, depth + 1) }),
    ...('code' in error && { code: writable(error.code, depth + 1) }),
    ...(withFrames && { at: frames(error) }),
    ...(error.cause !== undefined && { cause: writableCause(error.cause, depth + 1, withFrames) }),
  });
  const writableCause = (cause: unknown, depth: number, withFrames: boolean): unknown =>
    Error.isError(cause) && depth < MAX_DEPTH ? writableError(cause, depth, withFrames) : writable(cause, depth);
  /** Adds them to `line`. */
  return (fields: LogFields, line: Record<string, unknown>): object => {
    for (const [key, value] of Object.entries(fields)) line[key] = writableField(key, value, 1);
    return line;
  };
};

/** The stack frames alone: the message may contain line breaks. */
const frames = (error: Error): readonly string[] =>
  (error.stack ?? '')
    .split('\n')
    .filter((line) => line.startsWith('    at '))
    .map((line) => redacted(line.trim()));

/** Writes JSON lines, each with the fields of the span around it. */
export const createLog = ({ name, level, destination, nowMs = () => performance.now() }: LogOptions): Log => {
  const options = {
    level,
    base: { service: name },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    messageKey: 'message',
  };
  return adapt(pino(options, destination), createFieldWriter(nowMs));
};

type PinoLogger = ReturnType<typeof pino>;

const adapt = (logger: PinoLogger, addFields: ReturnType<typeof createFieldWriter>): Log => {
  const write =
    (level: 'debug' | 'info' | 'warn' | 'error') =>
    (message: string, fields: LogFields = {}): void => {
      if (logger.isLevelEnabled(level)) logger[level](addFields(fields, currentFields()), redacted(message));
    };
  return {
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    child: (fields) => adapt(logger.child(addFields(fields, {})), addFields),
  };
};
