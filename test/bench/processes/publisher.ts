import { setTimeout as pauseMs } from 'node:timers/promises';
import { createAmqpBus } from '@bubbles/bus/amqp/amqp.ts';
import { outgoing, stamp } from '@bubbles/bus/outgoing.ts';
import { BubbleReadyV1 } from '@bubbles/contracts/events/service-events.ts';
import { systemClock } from '@bubbles/kernel/clock.ts';
import { systemIds } from '@bubbles/kernel/ids.ts';
import { SILENT_LOG } from '@bubbles/testing/http.ts';
import { aBubble, readyEvent } from '../../../services/webhooks-dispatcher/test/builders.ts';
import { serveParent, settings, tellParent } from '../harness/in-child.ts';

export interface Publishing {
  /** Each gets a bubble ready in turn. */
  readonly owners: readonly string[];
  readonly count: number;
  /** Null for as fast as the broker confirms. */
  readonly perSecond: number | null;
}

/** Makes a body of 2 KiB. */
const SUMMARY = 'x'.repeat(1024);
const AT_ONCE = 200;
const SLICE_MS = 2;

const { url } = settings<{ readonly url: string }>();
const [clock, ids] = [systemClock(), systemIds()];
const bus = createAmqpBus({ url, service: 'bench', clock, log: SILENT_LOG });
const definition = { ...BubbleReadyV1, consumers: ['webhooks-dispatcher'] };
const nowMs = () => performance.timeOrigin + performance.now();

let published = 0;
const publish = (owner: string): Promise<void> => {
  published += 1;
  const bubble = aBubble({ id: `bubble-${process.pid}-${published}`, title: String(nowMs()), summary: SUMMARY });
  const data = readyEvent({ bubble, participant_user_ids: [owner] });
  return bus.publish(definition, stamp(outgoing(BubbleReadyV1, data), { clock, ids, source: BubbleReadyV1.publisher }));
};
const ownerOf = (owners: readonly string[], n: number): string => owners[n % owners.length] ?? '';

const atPace = async ({ owners, count }: Publishing, perSecond: number): Promise<void> => {
  const began = performance.now();
  const confirmed: Promise<void>[] = [];
  while (confirmed.length < count) {
    const due = Math.min(count, Math.floor(((performance.now() - began) * perSecond) / 1000));
    while (confirmed.length < due) confirmed.push(publish(ownerOf(owners, confirmed.length)));
    await pauseMs(SLICE_MS);
  }
  await Promise.all(confirmed);
};
const atOnce = async ({ owners, count }: Publishing): Promise<void> => {
  for (let done = 0; done < count; done += AT_ONCE)
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, count - done) }, (_, n) => publish(ownerOf(owners, done + n))));
};

tellParent({});
serveParent(async (task: Publishing) => {
  await (task.perSecond === null ? atOnce(task) : atPace(task, task.perSecond));
  return null;
});
