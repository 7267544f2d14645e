import type { Clock } from '@bubbles/kernel/clock.ts';
import { aborted, inFlight } from '@bubbles/kernel/concurrency.ts';
import type { Log } from '@bubbles/kernel/log.ts';
import type { ChannelModel, ConfirmChannel } from 'amqplib';
import { BusUnavailable, type CloudEvent, type EventDefinition } from '../bus.ts';
import { encodeEvent } from '../cloud-event.ts';
import { superviseChannel } from './amqp-channel.ts';
import { confirms, type OutgoingMessage } from './amqp-confirms.ts';
import type { AmqpConnection } from './amqp-connection.ts';
import { publishWindow } from './publish-window.ts';
import { queueCheck } from './queue-check.ts';
import { EVENTS_EXCHANGE } from './queues.ts';

export interface PublisherOptions {
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
  /** Resolves when every message is confirmed or refused. */
  idle(): Promise<void>;
  /** Waits for the confirms that are under way, no longer than until `deadline` aborts. */
  close(deadline: AbortSignal): Promise<void>;
}

/** Messages without a confirm at the same time. */
const WINDOW = 500;

export function amqpPublisher({ connection, clock, log, jitter, confirmLimitMs }: PublisherOptions): Publisher {
  const window = publishWindow(WINDOW);
  const work = inFlight();
  let up = connection.up;
  let closed = false;
  const queues = queueCheck(() => up(), log);

  const create = (model: ChannelModel) => model.createConfirmChannel();
  const prepare = (channel: ConfirmChannel, model: ChannelModel) => {
    channel.on('drain', window.open);
    channel.on('close', window.open);
    channel.on('return', ({ properties }) => awaitingConfirm.returned(properties.correlationId));
    up = () => Promise.resolve(model);
    queues.forget();
    return Promise.resolve();
  };
  const channels = superviseChannel({ name: 'publish', connection, clock, log, jitter, create, prepare });
  const awaitingConfirm = confirms({ clock, log, limitMs: confirmLimitMs, isBlocked: connection.isBlocked, giveUp: channels.replace });

  const publish = async (message: OutgoingMessage): Promise<void> => {
    const leave = await window.enter();
    try {
      const channel = await channels.ready();
      if (connection.isBlocked()) throw new BusUnavailable('the broker takes no messages');
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
    await queues.require(definition);
    const { type, consumers } = definition;
    const message = { exchange: EVENTS_EXCHANGE, routingKey: type, body: encodeEvent(event), messageId: event.id };
    try {
      await publish({ ...message, mandatory: consumers.length > 0 });
    } catch (error) {
      queues.forget(type);
      throw error;
    }
  };

  return {
    publishEvent: (definition, event) => work.track(publishEvent(definition, event)),
    publish: (message) => work.track(publish(message)),
    idle: work.idle,
    async close(deadline) {
      closed = true;
      channels.stopReopening();
      await Promise.race([work.idle(), aborted(deadline)]);
      await Promise.race([channels.close(), aborted(deadline)]);
      awaitingConfirm.stop();
    },
  };
}

/** A channel that closed meanwhile throws errors of its own. */
const asUnavailable = (error: unknown): Error =>
  Error.isError(error) && error.name === 'BusUnavailable' ? error : new BusUnavailable('the message could not be sent', error);
