import { createHash } from 'node:crypto';
import type { DeliveredType } from './subscription.ts';

const ID_CHARACTERS = 26;

/** The same parts give the same id, so that a message that is handled again makes nothing new. */
const derived = (prefix: string, parts: readonly string[]): string =>
  `${prefix}_${createHash('sha256').update(parts.join('\n')).digest('hex').slice(0, ID_CHARACTERS)}`;

const random = (prefix: string, bytes: Uint8Array): string => `${prefix}_${Buffer.from(bytes).toString('hex').slice(0, ID_CHARACTERS)}`;

export const ID_BYTES = ID_CHARACTERS / 2;
export const eventId = (bubbleId: string, type: DeliveredType): string => derived('evt', [bubbleId, type]);
export const deliveryId = (event: string, subscriptionId: string): string => derived('dlv', [event, subscriptionId]);
export const subscriptionId = (bytes: Uint8Array): string => random('wh', bytes);
export const replayId = (bytes: Uint8Array): string => random('rpl', bytes);
export const testEventId = (bytes: Uint8Array): string => random('evt', bytes);
