import type { Clock } from '@bubbles/kernel/clock.ts';
import { aborted, inFlight, memo } from '@bubbles/kernel/concurrency.ts';
import type { Log } from '@bubbles/kernel/log.ts';
import type { ChannelModel, ConfirmChannel } from 'amqplib';
import { BusUnavailable, type CloudEvent, type EventDefinition } from '../bus.ts';
import { encodeEvent } from '../cloud-event.ts';
import { EVENTS_EXCHANGE } from '../operations/topology.ts';
import { createConfirms, type OutgoingMessage } from './confirms.ts';
import { type AmqpConnection, superviseChannel } from './connection.ts';
import { missingPart } from './topology-view.ts';

interface PublisherOptions {
  readonly connection: AmqpConnection;
  readonly clock: Clock;
  readonly log: Log;
  readonly jitter: () => number;
  readonly confirmLimitMs: number;
}

export interface Publisher {
  publishEvent(definition: EventDefinition, event: CloudEvent): Promise<void>;
  /** Resolves when the broker holds the message, rejects with `BusUnavailable` otherwise. */
  publish(message: OutgoingMessage): Promise<void>;
  /** Missing exchanges and queues that publishing has met. */
  missing(): readonly string[];
  /** Resolves when every message is confirmed or refused. */
  idle(): Promise<void>;
  /** Waits for the confirms that are outstanding, no longer than until `deadline` aborts. */
  close(deadline: AbortSignal): Promise<void>;
}

/** A queue that is deleted is noticed within this time: the broker returns only what reaches no queue at all. */
export const QUEUES_CHECKED_MS = 10_000;
/** Messages without a confirm at the same time. */
const MAX_UNCONFIRMED = 500;

export const createPublisher = ({ connection, clock, log, jitter, confirmLimitMs }: PublisherOptions): Publisher => {
  const window = createPublishWindow();
  const work = inFlight();
  let closed = false;
  let model: ChannelModel | null = null;
  const topology = topologyCheck(log);
  const queues = recentChecks(clock, async (definition) => topology.check(model ?? (await connection.up()), definition));

  const prepare = (channel: ConfirmChannel, fresh: ChannelModel) => {
    channel.on('drain', window.open);
    channel.on('close', window.open);
    channel.on('return', ({ properties }) => awaitingConfirm.returned(properties.correlationId));
    model = fresh;
    queues.clear();
    return Promise.resolve();
  };
  const create = (fresh: ChannelModel) => fresh.createConfirmChannel();
  const channels = superviseChannel({ name: 'publish', connection, clock, log, jitter, create, prepare });
  const { isBlocked } = connection;
  const awaitingConfirm = createConfirms({ clock, log, limitMs: confirmLimitMs, isBlocked, giveUp: channels.replace });

  const publish = async (message: OutgoingMessage): Promise<void> => {
    const leave = await window.enter();
    try {
      const channel = await channels.ready();
      if (isBlocked()) throw new BusUnavailable('the broker takes no messages');
      const { flowing, confirmed } = awaitingConfirm.send(channel, message);
      if (!flowing) window.shut();
      await confirmed;
    } catch (error) {
      throw asUnavailable(error);
    } finally {
      leave();
    }
  };

  const publishEvent = async (definition: EventDefinition, event: CloudEvent): Promise<void> => {
    if (closed) throw new BusUnavailable('the bus is closed');
    await channels.ready();
    await queues.check(definition);
    const message = { exchange: EVENTS_EXCHANGE, routingKey: definition.type, body: encodeEvent(event), messageId: event.id };
    try {
      await publish({ ...message, mandatory: definition.consumers.length > 0 });
    } catch (error) {
      queues.delete(definition);
      throw error;
    }
  };

  return {
    publishEvent: (definition, event) => work.track(publishEvent(definition, event)),
    publish: (message) => work.track(publish(message)),
    missing: topology.missing,
    idle: work.idle,
    async close(deadline) {
      closed = true;
      channels.stopReopening();
      await Promise.race([work.idle(), aborted(deadline)]);
      await Promise.race([channels.close(), aborted(deadline)]);
      awaitingConfirm.stop();
    },
  };
};

const topologyCheck = (log: Log) => {
  const missing = new Map<EventDefinition, string>();
  return {
    missing: () => [...missing.values()],
    /** Rejects with `BusUnavailable` while the exchange or the queue of a consumer is missing. */
    async check(model: ChannelModel, definition: EventDefinition) {
      const part = await missingPart(model, definition, log).catch((error: unknown) => {
        throw new BusUnavailable(`the queues of ${definition.type} could not be looked up`, error);
      });
      if (part === null) return void missing.delete(definition);
      if (missing.get(definition) !== part) log.error('topology is older than this release, run its job', { missing: part });
      missing.set(definition, part);
      throw new BusUnavailable(`${part} is missing`);
    },
  };
};

/** One check of an event's queues for all publishes of the same seconds. */
const recentChecks = (clock: Clock, check: (definition: EventDefinition) => Promise<void>) => {
  const checkedAtMs = new Map<EventDefinition, number>();
  const checks = memo((definition: EventDefinition) => {
    checkedAtMs.set(definition, clock.monotonic());
    return check(definition);
  });
  return {
    check(definition: EventDefinition): Promise<void> {
      const ageMs = clock.monotonic() - (checkedAtMs.get(definition) ?? Number.NEGATIVE_INFINITY);
      if (ageMs >= QUEUES_CHECKED_MS) checks.delete(definition);
      return checks.get(definition);
    },
    delete: checks.delete,
    clear: checks.clear,
  };
};

/** A channel that closed meanwhile throws errors of its own. */
const asUnavailable = (error: unknown): Error =>
  Error.isError(error) && error.name === 'BusUnavailable' ? error : new BusUnavailable('the message could not be sent', error);

/** Lets `MAX_UNCONFIRMED` publishes in at a time, first come first served, and none while it is shut. */
const createPublishWindow = () => {
  const queue: (() => void)[] = [];
  let inside = 0;
  let shut = false;

  const admit = () => {
    while (!shut && inside < MAX_UNCONFIRMED && queue.length > 0) {
      inside += 1;
      queue.shift()?.();
    }
  };
  const leave = () => {
    inside -= 1;
    admit();
  };
  return {
    /** Resolves with the function that leaves. */
    enter: () =>
      new Promise<() => void>((resolve) => {
        queue.push(() => resolve(leave));
        admit();
      }),
    shut: () => {
      shut = true;
    },
    open: () => {
      shut = false;
      admit();
    },
  };
};
