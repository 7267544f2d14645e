import { createHash } from 'node:crypto';
import type { DeliveredType } from './subscription.ts';

const ID_CHARACTERS = 26;
const SECRET_BYTES = 32;

interface RandomBytes {
  bytes(count: number): Uint8Array;
}

/** The same parts give the same id, so that handling a message again creates nothing new. */
const derived = (prefix: string, parts: readonly string[]): string =>
  `${prefix}_${createHash('sha256').update(parts.join('\n')).digest('hex').slice(0, ID_CHARACTERS)}`;

export const eventId = (bubbleId: string, type: DeliveredType): string => derived('evt', [bubbleId, type]);
export const deliveryId = (event: string, subscriptionId: string): string => derived('dlv', [event, subscriptionId]);

/** The id of a subscription, a replay, or the event of a test. */
export const newId = (prefix: 'wh' | 'rpl' | 'evt', ids: RandomBytes): string =>
  `${prefix}_${Buffer.from(ids.bytes(ID_CHARACTERS / 2)).toString('hex')}`;

/** A secret that signs the deliveries of a subscription. */
export const newSecret = (ids: RandomBytes): string => `whsec_${Buffer.from(ids.bytes(SECRET_BYTES)).toString('base64')}`;
