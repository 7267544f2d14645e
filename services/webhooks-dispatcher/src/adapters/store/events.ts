import { sweepSlices } from '@bubbles/store/collection.ts';
import type { OpenCollection } from '@bubbles/store/indexed-collections.ts';
import type { WebhookEvent } from '../../domain/delivery.ts';
import type { EventStore } from '../../ports.ts';

export interface EventDoc extends Omit<WebhookEvent, 'id' | 'body' | 'bubble'> {
  readonly _id: string;
  readonly bubbleId: string | null;
  /** Null when its recording was removed. */
  readonly body: Buffer | null;
}

const documentOf = ({ id, body, bubble, ...event }: WebhookEvent): EventDoc => ({
  _id: id,
  ...event,
  bubbleId: bubble?.id ?? null,
  body: Buffer.from(body),
});

export const openEvents = (open: OpenCollection): EventStore => {
  const collection = open<EventDoc>('events', [{ name: 'made', keys: { createdAt: 1 } }]);
  return {
    async insert(event) {
      await collection.insert(documentOf(event));
    },
    insertEach: (events) => collection.insertEach(events.map(documentOf)),
    async bodies(ids) {
      const docs = await collection.find({ _id: { $in: [...ids] } });
      return new Map(docs.map(({ _id, body }) => [_id, body]));
    },
    async dropBody({ id, bubbleId, type, at }) {
      const drop = () =>
        collection.updateOne({ _id: id }, { $set: { body: null }, $setOnInsert: { bubbleId, type, createdAt: at } }, { upsert: true });
      // Fan-out inserted the event in between: now there is a body to drop.
      if ((await drop()) === 'duplicate') await drop();
    },
    sweep: (before) => sweepSlices(collection, { createdAt: { $lt: before } }, 'createdAt'),
  };
};
