import { AsyncResource } from 'node:async_hooks';
import { afterEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  callHeaders,
  currentFields,
  currentTraceparent,
  endSpan,
  inNewSpan,
  keepContext,
  runInSpan,
  type Span,
  type SpanReport,
  startSpan,
  traceparentOf,
  useTracer,
} from './trace.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const PARENT = 'b7ad6b7169203331';
const FORM = /^00-[0-9a-f]{32}-[0-9a-f]{16}-0[01]$/;

describe('a span', () => {
  it('goes on with the trace of a traceparent, under an id of its own', () => {
    const span = startSpan(`00-${TRACE}-${PARENT}-01`);
    expect(span).toMatchObject({ traceId: TRACE, parentId: PARENT, sampled: true });
    expect(traceparentOf(span)).toBe(`00-${TRACE}-${span.id}-01`);
    expect(startSpan(`00-${TRACE}-${PARENT}-02`).sampled).toBe(false);
  });

  it('reads the fields that it knows of a later version, and writes its own', () => {
    for (const later of [`cc-${TRACE}-${PARENT}-09`, `01-${TRACE}-${PARENT}-01-what-comes-later`]) {
      expect(traceparentOf(startSpan(later))).toMatch(new RegExp(`^00-${TRACE}-[0-9a-f]{16}-01$`));
    }
  });

  it.each([
    undefined,
    null,
    '',
    7,
    { toString: () => `00-${TRACE}-${PARENT}-01` },
    `00-${TRACE}-${PARENT}`,
    `00-${TRACE}-${PARENT}-01-more`,
    `00-${TRACE}-${PARENT}-01\n`,
    ` 00-${TRACE}-${PARENT}-01`,
    `ff-${TRACE}-${PARENT}-01`,
    `00-${TRACE.toUpperCase()}-${PARENT}-01`,
    `00-${'0'.repeat(32)}-${PARENT}-01`,
    `00-${TRACE}-${'0'.repeat(16)}-01`,
    `00-${TRACE}-${PARENT}-0g`,
  ])('begins a trace when there is none to go on with: %j', (text) => {
    const span = startSpan(text);
    expect(span).toMatchObject({ parentId: null, sampled: false });
    expect(span.traceId).not.toBe(TRACE);
    expect(traceparentOf(span)).toMatch(FORM);
  });

  it('is well formed whatever it was begun with', () => {
    const near = fc.stringMatching(/^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}(-x)?$/);
    fc.assert(
      fc.property(fc.oneof(fc.anything(), fc.string(), near), (text) => {
        const span = startSpan(text);
        expect(traceparentOf(span)).toMatch(FORM);
        expect(startSpan(traceparentOf(span))).toMatchObject({ traceId: span.traceId, parentId: span.id, sampled: span.sampled });
      }),
    );
  });

  it('has an id that no other has', () => {
    const spans = Array.from({ length: 3000 }, () => startSpan());
    expect(new Set(spans.flatMap(({ traceId, id }) => [traceId, id])).size).toBe(6000);
  });
});

describe('work in a span', () => {
  it('knows its request and its trace, however late, and nothing of the work around it', async () => {
    const [outer, inner] = [startSpan(), startSpan()];
    const within = async () => {
      await Promise.resolve();
      expect(callHeaders()).toEqual({ traceparent: traceparentOf(inner) });
      expect(currentFields()).toEqual({ trace_id: inner.traceId, span_id: inner.id, messageId: 'e1' });
    };
    const around = async () => {
      await runInSpan(inner, within, { fields: { messageId: 'e1' } });
      expect(callHeaders()).toEqual({ traceparent: traceparentOf(outer), 'x-request-id': 'req-12345678' });
    };
    await runInSpan(outer, around, { requestId: 'req-12345678' });
    expect([callHeaders(), currentTraceparent(), currentFields()]).toEqual([{}, null, {}]);
  });

  it('can be gone on with from elsewhere', () => {
    const span = startSpan();
    const run = runInSpan(span, keepContext);
    expect(run(currentTraceparent)).toBe(traceparentOf(span));
    expect(new AsyncResource('elsewhere').runInAsyncScope(() => run(currentTraceparent))).toBe(traceparentOf(span));
  });
});

describe('a tracer', () => {
  afterEach(() => useTracer(null));
  const told = (samples: (traceId: string) => boolean) => {
    const ended: (Span & SpanReport & { readonly endedAt: number })[] = [];
    useTracer({ samples, ended: (span) => void ended.push(span) });
    return ended;
  };

  it('decides of the traces that begin here, and is told of the spans of those that are recorded', async () => {
    const ended = told(() => true);
    const span = startSpan();
    expect(span.sampled).toBe(true);
    await inNewSpan({ name: 'job tidy', kind: 'internal', causedBy: traceparentOf(span) }, () => Promise.resolve());
    const failing = inNewSpan({ name: 'job fails', kind: 'internal', causedBy: traceparentOf(span) }, () =>
      Promise.reject(new Error('no')),
    );
    await expect(failing).rejects.toThrow('no');
    endSpan(span, () => ({ name: 'GET /', kind: 'server' }));
    expect(ended).toMatchObject([
      { traceId: span.traceId, parentId: span.id, name: 'job tidy' },
      { traceId: span.traceId, parentId: span.id, name: 'job fails', error: new Error('no') },
      { traceId: span.traceId, parentId: null, id: span.id, name: 'GET /', kind: 'server' },
    ]);
    for (const { startedAt, endedAt } of ended) expect(endedAt).toBeGreaterThanOrEqual(startedAt);
    expect(Math.abs(span.startedAt - Date.now())).toBeLessThan(60_000);
  });

  it('is told nothing of traces that nobody records', async () => {
    const ended = told(() => false);
    await inNewSpan({ name: 'job', kind: 'internal' }, () => Promise.resolve());
    await inNewSpan({ name: 'job', kind: 'internal', causedBy: `00-${TRACE}-${PARENT}-00` }, () => Promise.resolve());
    expect(ended).toEqual([]);
  });
});
