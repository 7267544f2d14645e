import type { Clock } from '@bubbles/kernel/clock.ts';
import { aborted } from '@bubbles/kernel/concurrency.ts';
import type { Log } from '@bubbles/kernel/log.ts';
import { StartupError } from '@bubbles/kernel/run-process.ts';
import type { Bus, EventDefinition } from '../bus.ts';
import { type AmqpConnection, openConnection } from './connection.ts';
import { type Consumer, createConsumer } from './consumer.ts';
import { createPublisher } from './publisher.ts';
import { countDeadLetters, missingPart } from './topology-view.ts';

export interface AmqpBusOptions {
  readonly url: string;
  /** Names the connections that the broker shows. */
  readonly service: string;
  readonly clock: Clock;
  readonly log: Log;
  /** Unacknowledged messages at the same time for each handler that does not say how many. */
  readonly prefetch?: number;
  /** How long the broker may take to confirm. */
  readonly confirmLimitMs?: number;
  /** How long `close` waits for handlers and confirms. */
  readonly closeLimitMs?: number;
  /** From 0 to 1; spreads retries of replicas. */
  readonly jitter?: () => number;
}

const PREFETCH = 20;
const CONFIRM_LIMIT_MS = 30_000;
const CLOSE_LIMIT_MS = 10_000;
const IDLE_POLL_MS = 20;

/**
 * The bus on RabbitMQ. One connection publishes and one consumes, because a broker that accepts no messages blocks the whole connection, acknowledgements
 * included. The topology job declares everything; the bus declares only a queue that was deleted while it was being consumed.
 */
export const createAmqpBus = (options: AmqpBusOptions): Bus => {
  const { url, service, clock, log, jitter = Math.random, prefetch = PREFETCH } = options;
  const { confirmLimitMs = CONFIRM_LIMIT_MS, closeLimitMs = CLOSE_LIMIT_MS } = options;
  const shared = { clock, log, jitter };
  const publishing = openConnection({ ...shared, url, name: `${service} publish` });
  const consuming = openConnection({ ...shared, url, name: `${service} consume` });
  const publisher = createPublisher({ ...shared, connection: publishing, confirmLimitMs });
  const consumers: Consumer[] = [];

  const waiting = async (): Promise<number> => {
    const counts = await Promise.allSettled(consumers.map((consumer) => consumer.waiting()));
    return counts.reduce((sum, count) => sum + (count.status === 'fulfilled' ? count.value : 0), 0);
  };
  const handled = async () => {
    await Promise.all([publisher.idle(), ...consumers.map((consumer) => consumer.idle())]);
  };
  const after = (ms: number) => new Date(clock.now().getTime() + ms);

  const shutDown = async () => {
    const deadline = AbortSignal.timeout(closeLimitMs);
    await Promise.all(consumers.map((consumer) => consumer.stop(deadline)));
    await publisher.close(deadline);
    await Promise.all(consumers.map((consumer) => consumer.close(deadline)));
    await Promise.race([Promise.all([publishing.close(), consuming.close()]), aborted(deadline)]);
  };
  let closed: Promise<void> | null = null;

  return {
    publish: (definition, event) => publisher.publishEvent(definition, event),
    consume(consumer, eventHandler) {
      const own = { consumer, eventHandler, prefetch: eventHandler.prefetch ?? prefetch };
      consumers.push(createConsumer({ ...shared, ...own, connection: consuming, publisher }));
      return Promise.resolve();
    },
    state: () => ({
      isConnected: publishing.isConnected() && consuming.isConnected(),
      faults: faultsOf([publishing, consuming], [...publisher.missing(), ...consumers.flatMap((consumer) => consumer.missing() ?? [])]),
      consumers: consumers.map((consumer) => consumer.state()),
    }),
    deadLetterCounts: async () =>
      consuming.isConnected()
        ? countDeadLetters(
            await consuming.up(),
            consumers.map((each) => each.state().consumer),
            log,
          )
        : new Map(),
    check: (definitions) => checkBroker(publishing, definitions, log),
    async idle() {
      for (let left = 1; left > 0; ) {
        await handled();
        left = await waiting();
        if (left > 0) await clock.sleepUntil(after(IDLE_POLL_MS), 'poll');
      }
      await handled();
    },
    close: () => {
      closed ??= shutDown();
      return closed;
    },
  };
};

const faultsOf = (connections: readonly AmqpConnection[], missing: readonly string[]): readonly string[] => {
  const lost = connections.flatMap((connection) => connection.fault()?.text ?? []);
  const blocked = connections.some((connection) => connection.isBlocked())
    ? ['the broker takes no messages: its memory or disk is full']
    : [];
  const lacking = missing.map((part) => `the broker lacks ${part}: run the topology job of this release`);
  return [...new Set([...lost, ...blocked, ...lacking])];
};

const checkBroker = async (connection: AmqpConnection, definitions: readonly EventDefinition[], log: Log): Promise<void> => {
  const fault = await connection.firstTry;
  if (fault?.isRefusal) throw new StartupError(`AMQP_URL: ${fault.text}.`);
  if (fault !== null) return;
  const model = await connection.up();
  for (const definition of definitions) {
    // A connection that is lost during the check answers nothing.
    const part = await missingPart(model, definition, log).catch(() => null);
    if (part !== null) throw new StartupError(`The broker lacks ${part}: run the topology job of this release, then start again.`);
  }
};
