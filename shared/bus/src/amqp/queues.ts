/** Names are the contract between publishers, consumers, the topology job and operators: a rename orphans a queue. */
export const EVENTS_EXCHANGE = 'bubbles.events';

/** One queue a consumer and event type. */
export const queueName = (consumer: string, type: string): string => `${consumer}.${type}`;

/** What a consumer could not take, of all types. */
export const deadQueueName = (consumer: string): string => `${consumer}.dead`;

/** How often the handler may fail on one message and see it again; the next fault buries the message. */
export const DELIVERY_LIMIT = 20;
