import type { Span } from '@bubbles/kernel/trace.ts';

/** In the place of the kernel's traces, for a process without any: nothing is drawn, kept or sent. */
const NONE: Span = { traceId: '', id: '', parentId: null, sampled: false, startedAt: 0 };
const FIELDS = {};

export const useTracer = (): void => undefined;
export const startSpan = (): Span => NONE;
export const endSpan = (): void => undefined;
export const traceparentOf = (): string => '';
export const spanFields = () => FIELDS;
export const runInSpan = <T>(_: Span, work: () => T): T => work();
export const inNewSpan = <T>(_: object, work: () => Promise<T>): Promise<T> => work();
export const inUnrecordedSpan = <T>(work: () => T): T => work();
export const currentTraceparent = (): string | null => null;
export const callHeaders = () => FIELDS;
export const currentFields = (): undefined => undefined;
export const keepContext =
  () =>
  <T>(work: () => T): T =>
    work();
