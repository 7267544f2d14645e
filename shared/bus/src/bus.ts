import type { ZodType } from 'zod';

/** CloudEvents 1.0, JSON format. `type` is the routing key. */
export interface CloudEvent<T = unknown> {
  readonly specversion: '1.0';
  /** The same whenever the same fact is told. */
  readonly id: string;
  readonly source: string;
  readonly type: string;
  /** ISO-8601 UTC. */
  readonly time: string;
  readonly subject?: string;
  /** `traceparent` of the publishing work (CloudEvents distributed tracing extension), so that the handler continues the trace. */
  readonly traceparent?: string;
  readonly datacontenttype: 'application/json';
  readonly data: T;
}

/** An event as contracts define it. */
export interface EventDefinition<T = unknown> {
  /** `<owner>.<noun>.<past>.v<n>` */
  readonly type: string;
  /** A service's name, or `recording-pipeline` for the outside. */
  readonly publisher: string;
  /** The services that consume it; their queues must exist before the first publish. */
  readonly consumers: readonly string[];
  /** Schema of the published payload. A consumer replaces it by its own, with the fields that it reads. */
  readonly schema: ZodType<T>;
}

/** What a service does with one event. */
export interface EventHandler<T = unknown> {
  readonly event: EventDefinition<T>;
  /** How many messages are handled at the same time; the default of the bus when absent. */
  readonly prefetch?: number;
  /**
   * Idempotent. A throw of `DomainError('unavailable')` (store, network, another service) makes the consumer back off and does not count against the
   * message; any other throw does. `event.data` is as it came, with the fields that the schema does not name.
   */
  handle(data: T, event: CloudEvent<T>): Promise<void>;
  /** Called for each delivery of a message, before its handling. */
  onDelivery?(isRedelivery: boolean): void;
  /** Called when a message was moved to the consumer's dead-letter queue. */
  onDeadLetter?(): void;
}

/** Result of a publish. `returned`: no queue was bound. `timeout`: the broker did not confirm in time. */
export type PublishOutcome = 'confirmed' | 'returned' | 'timeout' | 'failed';

/** The event could not be handed over for every consumer: keep it and publish it again. */
export class BusUnavailable extends Error {
  readonly outcome: Exclude<PublishOutcome, 'confirmed'>;

  constructor(message: string, cause?: unknown, outcome: BusUnavailable['outcome'] = 'failed') {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'BusUnavailable';
    this.outcome = outcome;
  }
}

/** State of the bus, for operators. */
interface BusState {
  readonly isConnected: boolean;
  /** Problems that stop messages, one line each. */
  readonly faults: readonly string[];
  readonly consumers: readonly ConsumerState[];
}

export interface ConsumerState {
  readonly consumer: string;
  /** One entry per consumed event type. */
  readonly type: string;
  /** False without a queue or a connection, and from the first time that what a handler needs is unavailable until it is there. */
  readonly isConsuming: boolean;
}

export interface Bus {
  /** Resolves when the broker holds a message for every consumer; rejects with `BusUnavailable` otherwise, when some may have theirs all the same. */
  publish(definition: EventDefinition, event: CloudEvent): Promise<void>;
  /** Begins to consume for a service, from its queue of that event; the loss of the broker does not end it. */
  consume(consumer: string, handler: EventHandler): Promise<void>;
  state(): BusState;
  /** Number of dead letters by consumer, including those that the broker moved there; consumers without an answer are left out. */
  deadLetterCounts(): Promise<ReadonlyMap<string, number>>;
  /**
   * Rejects with `StartupError` when the broker refuses the service, or lacks the exchange or a queue of these events. Resolves when nothing is missing,
   * and also when the broker is unreachable, which `state` reports.
   */
  check(definitions: readonly EventDefinition[]): Promise<void>;
  /** Resolves when no published message is being handled or waits for a running consumer. */
  idle(): Promise<void>;
  /** Stops consuming, waits for handlers and confirms, then closes the connections. */
  close(): Promise<void>;
}

/** Binds a typed handler; the one place that erases the payload's type, which the bus proves again with the schema. */
export const eventHandler = <T>(
  event: EventDefinition<T>,
  handle: (data: T, event: CloudEvent<T>) => Promise<void>,
  options: { readonly prefetch?: number } = {},
): EventHandler =>
  // The bus hands over only what `event.schema` has parsed, so T is what arrives.
  ({ event, handle, ...options }) as EventHandler;

/** One queue for each consumer and event type. A rename would orphan the queue. */
export const queueName = (consumer: string, type: string): string => `${consumer}.${type}`;
