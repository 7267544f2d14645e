import { AsyncLocalStorage } from 'node:async_hooks';
import { systemIds } from './ids.ts';

/** One piece of work in a trace, as W3C Trace Context names it: a request, a message, a job. */
export interface Span {
  /** 32 lower-case hex digits. */
  readonly traceId: string;
  /** 16 lower-case hex digits. */
  readonly id: string;
  /** The span that caused this one; null when it begins its trace. */
  readonly parentId: string | null;
  /** Somebody records the trace: its ended spans are handed to the tracer. */
  readonly sampled: boolean;
  /** Milliseconds since the epoch, in real time; 0 when nobody records the span. */
  readonly startedAt: number;
}

/** What a tracer is told of a span that has ended. */
export interface SpanReport {
  readonly name: string;
  readonly kind: 'server' | 'consumer' | 'client' | 'internal';
  readonly attributes?: Readonly<Record<string, string | number>>;
  /** The fault that ended it; null for none. */
  readonly error?: unknown;
}

/** Records spans outside of the product; none unless `useTracer` was called. */
export interface Tracer {
  /** Whether a trace that begins here is recorded. The services after this one do as this one says. */
  samples(traceId: string): boolean;
  ended(span: Span & SpanReport & { readonly endedAt: number }): void;
}

let tracer: Tracer | null = null;

/** For `deploy/tracing`, before the first span begins. */
export const useTracer = (one: Tracer | null): void => {
  tracer = one;
};

const FIELDS = '(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}';
/** Of a later version than ours the four fields count that we know. */
const TRACEPARENT = new RegExp(`^(?:00-${FIELDS}|(?!00|ff)[0-9a-f]{2}-${FIELDS}(?:-.*)?)$`);

const TRACE_ID_BYTES = 16;
const SPAN_ID_BYTES = 8;
const POOL_BYTES = 4096;
const pool: { bytes: Buffer; used: number } = { bytes: Buffer.alloc(0), used: 0 };

/** Drawn for many ids at once, since each draw is slow. Always the system's randomness: no fact of the product depends on these ids. */
const randomHex = (bytes: number): string => {
  if (pool.used + bytes > pool.bytes.length) {
    pool.bytes = systemIds().bytes(POOL_BYTES);
    pool.used = 0;
  }
  pool.used += bytes;
  return pool.bytes.toString('hex', pool.used - bytes, pool.used);
};

const nowMs = (): number => performance.timeOrigin + performance.now();

/** Continues the trace that a `traceparent` names. Anything else begins a trace: the text may come from a stranger, a message or an old document. */
export const startSpan = (traceparent: unknown = null): Span => {
  const id = randomHex(SPAN_ID_BYTES);
  const known = typeof traceparent === 'string' && TRACEPARENT.test(traceparent) ? traceparent : null;
  const traceId = known?.slice(3, 35) ?? randomHex(TRACE_ID_BYTES);
  const sampled = known === null ? tracer?.samples(traceId) === true : isSampled(known);
  return { traceId, id, parentId: known?.slice(36, 52) ?? null, sampled, startedAt: sampled && tracer !== null ? nowMs() : 0 };
};

const isSampled = (traceparent: string): boolean => (Number.parseInt(traceparent.slice(53, 55), 16) & 1) === 1;

/** Hands the span to the tracer, when there is one that wants it. */
export const endSpan = (span: Span, report: () => SpanReport): void => {
  if (tracer !== null && span.sampled) tracer.ended({ ...span, ...report(), endedAt: nowMs() });
};

/** What a call, a message or a document carries, so that what it causes continues the trace. */
export const traceparentOf = ({ traceId, id, sampled }: Span): string => `00-${traceId}-${id}-${sampled ? '01' : '00'}`;

type Fields = Readonly<Record<string, unknown>>;

/** What each log line about the span carries. */
export const spanFields = ({ traceId, id, parentId }: Span): Fields => ({
  trace_id: traceId,
  span_id: id,
  ...(parentId !== null && { parent_span_id: parentId }),
});

interface Work {
  readonly span: Span;
  readonly requestId: string | null;
  readonly fields: Fields;
}

const context = new AsyncLocalStorage<Work>();

interface WorkOptions {
  readonly requestId?: string;
  /** Further fields of every log line. */
  readonly fields?: Fields;
}

/** Every log line that is written inside `work` carries the span, every call and event that it makes continues the trace. Nothing of the work around it stays. */
export const runInSpan = <T>(span: Span, work: () => T, { requestId, fields }: WorkOptions = {}): T =>
  context.run(
    {
      span,
      requestId: requestId ?? null,
      fields: { ...(requestId !== undefined && { request_id: requestId }), ...spanFields(span), ...fields },
    },
    work,
  );

interface BackgroundOptions extends Pick<WorkOptions, 'fields'>, Pick<SpanReport, 'name' | 'kind' | 'attributes'> {
  /** The `traceparent` of what caused it; a trace of its own without one. */
  readonly causedBy?: unknown;
}

/** Does the work as one span from its beginning to its end. */
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

/** In a trace of its own that nobody records: polls, most of which find nothing to do. */
export const inUnrecordedSpan = <T>(work: () => T): T => runInSpan({ ...startSpan(), sampled: false }, work);

/** Of the work at hand; null where nothing is traced. */
export const currentTraceparent = (): string | null => {
  const work = context.getStore();
  return work === undefined ? null : traceparentOf(work.span);
};

/** The header lines that each call to a service of ours carries. */
export const callHeaders = (): Readonly<Record<string, string>> => {
  const work = context.getStore();
  if (work === undefined) return {};
  return { traceparent: traceparentOf(work.span), ...(work.requestId !== null && { 'x-request-id': work.requestId }) };
};

/** What log lines carry here. */
export const currentFields = (): Fields | undefined => context.getStore()?.fields;

/** Runs `work` later as if it ran here. */
export const keepContext = (): (<T>(work: () => T) => T) => AsyncLocalStorage.snapshot();
