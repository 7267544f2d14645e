import type { ZodType } from 'zod';

/** CloudEvents 1.0, JSON format. `type` is the routing key, `id` deterministic where the fact is. */
export interface CloudEvent<T = unknown> {
  readonly specversion: '1.0';
  readonly id: string;
  readonly source: string;
  readonly type: string;
  /** ISO-8601 UTC. */
  readonly time: string;
  readonly subject?: string;
  readonly datacontenttype: 'application/json';
  readonly data: T;
}

/** An event as contracts define it: its name, its payload and who consumes it. */
export interface EventDefinition<T = unknown> {
  /** `<owner>.<noun>.<past>.v<n>` */
  readonly type: string;
  /** Who publishes it: a service's name, or `recording-pipeline` for the outside. */
  readonly publisher: string;
  /** The services that consume it; their queues must exist before the first publish. */
  readonly consumers: readonly string[];
  readonly schema: ZodType<T>;
}

/** One queue of one service: `<consumer>.<type>`. */
export interface EventHandler<T = unknown> {
  readonly consumer: string;
  readonly event: EventDefinition<T>;
  /** Unacknowledged messages at the same time, where it handles them together; otherwise as many as the bus gives everybody. */
  readonly prefetch?: number;
  /** Idempotent. A throw of `DomainError('unavailable')` (store, network, a service down) pauses the consumer and counts nothing; any other throw counts against the message. */
  handle(data: T, event: CloudEvent<T>): Promise<void>;
}

/** The message could not be handed over for every consumer: keep it and try again. */
export class BusUnavailable extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'BusUnavailable';
  }
}

export interface Bus {
  /** Resolves when the broker holds the message for every consumer of the definition; rejects with `BusUnavailable` otherwise (it may have been delivered all the same). */
  publish(definition: EventDefinition, event: CloudEvent): Promise<void>;
  /** Begins to consume. Survives the loss of the broker. */
  consume(eventHandler: EventHandler): Promise<void>;
  /** Resolves when no message that was handed over is being handled or waits for a running consumer. */
  idle(): Promise<void>;
  /** Stops consuming, waits for handlers and confirms, then lets go of the broker. */
  close(): Promise<void>;
}

/** Binds a typed handler; the one place that erases the payload's type, which the bus proves again with the schema. */
export const eventHandler = <T>(
  consumer: string,
  event: EventDefinition<T>,
  handle: (data: T, event: CloudEvent<T>) => Promise<void>,
): EventHandler =>
  // The bus hands over only what `event.schema` has parsed, so T is what arrives.
  ({ consumer, event, handle }) as EventHandler;
