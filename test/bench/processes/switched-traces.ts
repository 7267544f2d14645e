import { AsyncLocalStorage } from 'node:async_hooks';
import * as real from '@bubbles/kernel/trace.ts';

/** Whether this process traces its work and measures store and broker at the moment. */
export const observation = { on: true };

/** In the place of the kernel's traces. Switched off, work keeps its request id, for log lines and calls, and nothing else. */
const context = new AsyncLocalStorage<Readonly<Record<string, unknown>>>();
const NONE: real.Span = { traceId: '', id: '', parentId: null, sampled: false, startedAt: 0 };
const NO_FIELDS = {};

export const { useTracer, endSpan } = real;

export const startSpan: typeof real.startSpan = (traceparent) => (observation.on ? real.startSpan(traceparent) : NONE);

export const traceparentOf: typeof real.traceparentOf = (span) => (observation.on ? real.traceparentOf(span) : '');

export const spanFields: typeof real.spanFields = (span) => (observation.on ? real.spanFields(span) : NO_FIELDS);

export const runInSpan: typeof real.runInSpan = (span, work, options) => {
  if (observation.on) return real.runInSpan(span, work, options);
  return options?.requestId === undefined ? work() : context.run({ request_id: options.requestId }, work);
};

export const inNewSpan: typeof real.inNewSpan = (background, work) => (observation.on ? real.inNewSpan(background, work) : work());

export const inUnrecordedSpan: typeof real.inUnrecordedSpan = (work) => (observation.on ? real.inUnrecordedSpan(work) : work());

export const currentTraceparent: typeof real.currentTraceparent = () => (observation.on ? real.currentTraceparent() : null);

export const callHeaders: typeof real.callHeaders = () => {
  if (observation.on) return real.callHeaders();
  const id = context.getStore()?.['request_id'];
  return typeof id === 'string' ? { 'x-request-id': id } : NO_FIELDS;
};

export const currentFields: typeof real.currentFields = () => (observation.on ? real.currentFields() : { ...context.getStore() });

export const keepContext: typeof real.keepContext = () => (observation.on ? real.keepContext() : (work) => work());
