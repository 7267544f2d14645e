import { randomUUID } from 'node:crypto';
import { runInSpan, type Span, type SpanReport, startSpan, traceparentOf, useTracer } from '@bubbles/kernel/trace.ts';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { DeliveryDoc } from '../src/adapters/store/deliveries.ts';
import { aBubble } from './builders.ts';
import { openScene, type Scene } from './scene.ts';

describe('a delivery names what caused it', () => {
  let scene: Scene;
  let ended: (Span & SpanReport)[];
  beforeEach(async () => {
    ended = [];
    useTracer({ samples: () => false, ended: (span) => void ended.push(span) });
    scene = await openScene();
  });
  afterEach(async () => {
    useTracer(null);
    await scene.stop();
  });
  const stored = () => scene.dispatcher.database.collection<DeliveryDoc>('deliveries');
  const recorded = (): Span => ({ ...startSpan(), sampled: true });
  const attempts = () => ended.filter(({ name }) => name === 'attempt webhook');

  it('in each of its attempts, also when messages are fanned out together', async () => {
    const subscriber = await scene.subscriber({}, 500);
    const spans = [recorded(), recorded(), recorded()];
    const ready = (span: Span) => runInSpan(span, () => scene.dispatcher.ready({ bubble: aBubble({ id: randomUUID() }) }));
    await Promise.all(spans.map(ready));
    await scene.dispatcher.settle();
    await scene.dispatcher.pass(60);
    const traceIds = spans.map(({ traceId }) => traceId);
    expect(new Set(attempts().map(({ traceId }) => traceId))).toEqual(new Set(traceIds));
    expect(attempts()).toHaveLength(6);
    expect(attempts()[0]).toMatchObject({ kind: 'client', error: '5xx', attributes: { 'http.response.status_code': 500 } });
    const docs = await stored().find({ subscriptionId: subscriber.id });
    expect(docs.map(({ causedBy }) => causedBy?.slice(3, 35)).toSorted()).toEqual(traceIds.toSorted());
    expect(subscriber.receiver.received.map(({ headers }) => headers['traceparent'])).toEqual(Array.from({ length: 6 }, () => undefined));
  });

  it('as the request does that asked for a test', async () => {
    const subscriber = await scene.subscriber();
    const span = recorded();
    const answer = await fetch(`${scene.dispatcher.url}/v1/webhooks/${subscriber.id}/test`, {
      method: 'POST',
      headers: { traceparent: traceparentOf(span) },
    });
    expect(answer.status).toBe(202);
    await scene.dispatcher.settle();
    expect(attempts()).toMatchObject([{ traceId: span.traceId, error: null }]);
  });

  it('in the log, at info when the attempt failed', async () => {
    const [good, bad] = [await scene.subscriber(), await scene.subscriber({}, 500)];
    await scene.dispatcher.ready();
    await scene.dispatcher.settle();
    const lines = scene.dispatcher.log.lines.filter(({ message }) => message === 'webhook attempted');
    expect(lines.find(({ level }) => level === 'info')?.fields).toMatchObject({
      subscriptionId: bad.id,
      outcome: '5xx',
      status: 500,
      attempt: 1,
    });
    expect(lines.find(({ level }) => level === 'debug')?.fields).toMatchObject({ subscriptionId: good.id, outcome: '2xx', status: 204 });
    const [delivery] = await good.log();
    expect(lines.map(({ fields }) => fields['deliveryId'])).toContain(delivery.id);
  });

  it('and one that an earlier release queued is attempted all the same', async () => {
    const subscriber = await scene.subscriber({}, 500);
    await scene.dispatcher.ready();
    await scene.dispatcher.settle();
    await stored().updateMany({}, { $unset: { causedBy: '' } });
    await scene.dispatcher.pass(60);
    await stored().updateMany({}, { $set: { causedBy: 'what\r\nis this' } });
    await scene.dispatcher.pass(120);
    expect(subscriber.receiver.received).toHaveLength(3);
  });
});
