import type { Collection, IndexSpec } from '@bubbles/shared/store/collection.ts';
import { sweepSlices } from '@bubbles/shared/store/sweep-slices.ts';
import type { WebhookEvent } from '../../domain/delivery.ts';
import type { EventStore } from '../../ports.ts';

export interface EventDoc extends Omit<WebhookEvent, 'id' | 'body' | 'bubble'> {
  readonly _id: string;
  readonly bubbleId: string | null;
  readonly body: Buffer;
}

export const EVENT_INDEXES: readonly IndexSpec[] = [{ name: 'made', keys: { createdAt: 1 } }];

export const eventStore = (collection: Collection<EventDoc>): EventStore => ({
  async insert({ id, body, bubble, ...event }) {
    await collection.insert({ _id: id, ...event, bubbleId: bubble?.id ?? null, body: Buffer.from(body) });
  },
  async bodies(ids) {
    const docs = await collection.find({ _id: { $in: [...ids] } });
    return new Map(docs.map(({ _id, body }) => [_id, body]));
  },
  sweep: (before) => sweepSlices(collection, { createdAt: { $lt: before } }),
});
