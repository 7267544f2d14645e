import { AsyncLocalStorage } from 'node:async_hooks';
import { systemIds } from './ids.ts';

/** A span of a trace (W3C Trace Context): one request, message or job. */
export interface Span {
  /** 32 lower-case hex digits. */
  readonly traceId: string;
  /** 16 lower-case hex digits. */
  readonly id: string;
  /** Parent span id; null for the root of a trace. */
  readonly parentId: string | null;
  /** The sampled flag: ended spans are handed to the tracer. */
  readonly sampled: boolean;
  /** Start in milliseconds since the epoch, of the real clock; 0 when the span is not recorded. */
  readonly startedAt: number;
}

/** An ended span, for the tracer. */
export interface SpanReport {
  readonly name: string;
  readonly kind: 'server' | 'consumer' | 'client' | 'internal';
  readonly attributes?: Readonly<Record<string, string | number>>;
  /** The error that ended it, or null. */
  readonly error?: unknown;
}

/** Exports spans; set by `useTracer`. */
interface Tracer {
  /** Decides whether a trace that begins here is recorded; called services follow the sampled flag. */
  samples(traceId: string): boolean;
  ended(span: Span & SpanReport & { readonly endedAt: number }): void;
}

let tracer: Tracer | null = null;

/** Sets the tracer; must be called before the first span begins. */
export const useTracer = (one: Tracer | null): void => {
  tracer = one;
};

const FIELDS = '(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}';
/** Higher versions may append fields (W3C Trace Context, 3.2.4); only the four known ones are read. */
const TRACEPARENT = new RegExp(`^(?:00-${FIELDS}|(?!00|ff)[0-9a-f]{2}-${FIELDS}(?:-.*)?)$`);

const SPAN_ID_BYTES = 8;
const ROOT_ID_BYTES = 24;
/** Hex digits of a trace id. */
const TRACE_ID_LENGTH = 32;
const POOL_BYTES = 4096;
const pool: { bytes: Buffer; used: number } = { bytes: Buffer.alloc(0), used: 0 };

/** Draws random bytes for many ids at once, because each call is slow. Uses the system's randomness directly: no behaviour depends on these ids. */
const randomHex = (bytes: number): string => {
  if (pool.used + bytes > pool.bytes.length) {
    pool.bytes = systemIds().bytes(POOL_BYTES);
    pool.used = 0;
  }
  pool.used += bytes;
  return pool.bytes.toString('hex', pool.used - bytes, pool.used);
};

const nowMs = (): number => performance.timeOrigin + performance.now();

/** Continues the trace of a valid `traceparent`; any other text begins a new trace. */
export const startSpan = (traceparent: unknown = null): Span => {
  if (typeof traceparent !== 'string' || !TRACEPARENT.test(traceparent)) return startRoot();
  const sampled = (Number.parseInt(traceparent.slice(53, 55), 16) & 1) === 1;
  const parentId = traceparent.slice(36, 52);
  return { traceId: traceparent.slice(3, 35), id: randomHex(SPAN_ID_BYTES), parentId, sampled, startedAt: startOf(sampled) };
};

/** Both ids are drawn at once. */
const startRoot = (): Span => {
  const drawn = randomHex(ROOT_ID_BYTES);
  const traceId = drawn.slice(0, TRACE_ID_LENGTH);
  const sampled = tracer?.samples(traceId) === true;
  return { traceId, id: drawn.slice(TRACE_ID_LENGTH), parentId: null, sampled, startedAt: startOf(sampled) };
};

const startOf = (sampled: boolean): number => (sampled && tracer !== null ? nowMs() : 0);

/** Hands a recorded span to the tracer. */
export const endSpan = (span: Span, report: () => SpanReport): void => {
  if (tracer !== null && span.sampled) tracer.ended({ ...span, ...report(), endedAt: nowMs() });
};

/** The `traceparent` that calls, messages and documents carry to continue the trace. */
export const traceparentOf = ({ traceId, id, sampled }: Span): string => `00-${traceId}-${id}-${sampled ? '01' : '00'}`;

type Fields = Readonly<Record<string, unknown>>;

/** Trace fields of each log line. */
export const spanFields = ({ traceId, id, parentId }: Span): Fields => ({
  trace_id: traceId,
  span_id: id,
  ...(parentId !== null && { parent_span_id: parentId }),
});

interface Work {
  readonly span: Span;
  readonly requestId: string | undefined;
  readonly fields: Fields | undefined;
}

const context = new AsyncLocalStorage<Work | undefined>();

interface WorkOptions {
  readonly requestId?: string;
  /** Further fields of every log line. */
  readonly fields?: Fields;
}

/** Runs `work` in the span: its log lines, calls and events carry it. Replaces the surrounding context. */
export const runInSpan = <T>(span: Span, work: () => T, { requestId, fields }: WorkOptions = {}): T =>
  context.run({ span, requestId, fields }, work);

interface BackgroundOptions extends Pick<WorkOptions, 'fields'>, Pick<SpanReport, 'name' | 'kind' | 'attributes'> {
  /** `traceparent` of the cause; without one the work begins a trace. */
  readonly causedBy?: unknown;
}

/** Runs the work as one span. */
export const inNewSpan = async <T>({ causedBy, fields, ...report }: BackgroundOptions, work: () => Promise<T>): Promise<T> => {
  const span = startSpan(causedBy);
  try {
    const result = await runInSpan(span, work, { ...(fields && { fields }) });
    endSpan(span, () => report);
    return result;
  } catch (error) {
    endSpan(span, () => ({ ...report, error }));
    throw error;
  }
};

/** Runs `work` in an unrecorded trace of its own: for polls, most of which find nothing to do. */
export const inUnrecordedSpan = <T>(work: () => T): T => runInSpan({ ...startSpan(), sampled: false }, work);

/** `traceparent` of the current work; null outside of a trace. */
export const currentTraceparent = (): string | null => {
  const work = context.getStore();
  return work === undefined ? null : traceparentOf(work.span);
};

/** Trace headers of calls between services. */
export const callHeaders = (): Readonly<Record<string, string>> => {
  const work = context.getStore();
  if (work === undefined) return {};
  return { traceparent: traceparentOf(work.span), ...(work.requestId !== undefined && { 'x-request-id': work.requestId }) };
};

/** Trace fields of log lines in the current work, in an object of their own; none outside of a trace. */
export const currentFields = (): Record<string, unknown> => {
  const work = context.getStore();
  if (work === undefined) return {};
  const { span, requestId, fields } = work;
  return { ...(requestId !== undefined && { request_id: requestId }), ...spanFields(span), ...fields };
};

/** Binds `work` to the current context, for a later call. */
export const keepContext = (): (<T>(work: () => T) => T) => {
  const kept = context.getStore();
  return (work) => context.run(kept, work);
};
