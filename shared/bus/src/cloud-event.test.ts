import { currentFields, currentTraceparent, runInSpan, type Span, type SpanReport, startSpan, useTracer } from '@bubbles/kernel/trace.ts';
import { fakeClock } from '@bubbles/testing/fake-clock.ts';
import { fakeIds } from '@bubbles/testing/fake-ids.ts';
import { afterEach, describe, expect, it } from '@jest/globals';
import { anEvent, thingHappened } from '../test/bus-events.ts';
import { type CloudEvent, eventHandler } from './bus.ts';
import { encodeEvent, handleMessage } from './cloud-event.ts';
import { outgoing, stamp } from './outgoing.ts';

const Happened = thingHappened('traced');
const TRACE = 'a'.repeat(32);
const TRACEPARENT = `00-${TRACE}-${'b'.repeat(16)}-01`;

/** What handler and `settle` see of the trace. */
const handled = async (event: object, fail: () => unknown = () => undefined) => {
  const seen: (string | null)[] = [];
  const handler = eventHandler(Happened, async () => {
    seen.push(currentTraceparent());
    await Promise.resolve();
    fail();
  });
  const bytes = Buffer.from(JSON.stringify(event));
  const result = await handleMessage(handler, bytes, (one) => {
    seen.push(currentTraceparent());
    return { ...one, fields: currentFields() };
  });
  return { result, seen };
};

describe('the trace of an event', () => {
  afterEach(() => useTracer(null));
  const stamper = { clock: fakeClock(), ids: fakeIds(), source: Happened.publisher };
  const told = (): CloudEvent => stamp(outgoing(Happened, { n: 1 }), stamper);

  it('is that of the work that tells it, and none where nothing is traced', () => {
    const span = startSpan();
    expect(runInSpan(span, told).traceparent).toBe(`00-${span.traceId}-${span.id}-00`);
    expect(told()).not.toHaveProperty('traceparent');
  });

  it('goes on while it is handled, and while what became of it is acted on and logged', async () => {
    const event = { ...anEvent(Happened, { n: 1 }), traceparent: TRACEPARENT };
    const { result, seen } = await handled(event);
    expect(result).toMatchObject({
      kind: 'handled',
      fields: { trace_id: TRACE, parent_span_id: 'b'.repeat(16), messageId: event.id, messageType: Happened.type },
    });
    expect(seen).toEqual([expect.stringMatching(new RegExp(`^00-${TRACE}-(?!b{16})`)), seen[0]]);
  });

  it.each([undefined, null, 7, '', 'x', {}, [TRACEPARENT], `${TRACEPARENT}0`, TRACEPARENT.replaceAll('a', '0'), 'x'.repeat(100_000)])(
    'begins with its handling when the event names none (%#), and the event is handled all the same',
    async (traceparent) => {
      const { result, seen } = await handled({ ...anEvent(Happened, { n: 1 }), traceparent });
      expect(result.kind).toBe('handled');
      expect(seen[0]).toMatch(/^00-(?!a{32})[0-9a-f]{32}-[0-9a-f]{16}-00$/);
    },
  );

  it('is not shown to handlers, and other extensions pass', async () => {
    const events: CloudEvent[] = [];
    const handler = eventHandler(Happened, (_, event) => Promise.resolve(void events.push(event)));
    const event = anEvent(Happened, { n: 1 });
    const message = { ...event, traceparent: TRACEPARENT, tracestate: 'vendor=1', partitionkey: 'x' };
    await handleMessage(handler, encodeEvent(message), () => undefined);
    expect(events).toEqual([event]);
  });

  it('tells a tracer of the handling, with its fault', async () => {
    const ended: (Span & SpanReport)[] = [];
    useTracer({ samples: () => true, ended: (span) => void ended.push(span) });
    const fail = () => {
      throw new TypeError('broken');
    };
    const { result } = await handled({ ...anEvent(Happened, { n: 1 }), traceparent: TRACEPARENT }, fail);
    expect(result.kind).toBe('fault');
    const span = { traceId: TRACE, parentId: 'b'.repeat(16), kind: 'consumer', name: `process ${Happened.type}` };
    expect(ended).toMatchObject([{ ...span, error: new TypeError('broken') }]);
  });
});
