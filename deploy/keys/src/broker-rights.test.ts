import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createAmqpBus } from '@bubbles/bus/amqp/amqp.ts';
import { type Bus, type CloudEvent, type EventDefinition, eventHandler, queueName } from '@bubbles/bus/bus.ts';
import { listDeadLetters, redrive } from '@bubbles/bus/operations/dead-letters.ts';
import { deadQueueName, declareTopology, EVENTS_EXCHANGE, QUEUES_EXCHANGE, withChannel } from '@bubbles/bus/operations/topology.ts';
import { EVENTS } from '@bubbles/contracts/events/catalog.ts';
import { systemClock } from '@bubbles/kernel/clock.ts';
import { errorCode } from '@bubbles/kernel/errors.ts';
import { partsOf } from '@bubbles/services/deployment.ts';
import { VHOST } from '@bubbles/services/engine-users.ts';
import { expectEventually } from '@bubbles/testing/eventually.ts';
import { memoryLog } from '@bubbles/testing/memory-log.ts';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { openKeys } from './keys.ts';
import { secretFiles } from './secret-files.ts';

type Channel = Parameters<Parameters<typeof withChannel>[1]>[0];

const ACCESS_REFUSED = 403;
const clock = systemClock();
const services = partsOf().filter(({ kind }) => kind === 'service');
const publishers = [
  ...services,
  { name: 'recording-pipeline', publishes: EVENTS.filter((event) => event.publisher === 'recording-pipeline').map(({ type }) => type) },
];
const consumers: readonly string[] = [...new Set(EVENTS.flatMap((event) => event.consumers))];
const queues = EVENTS.flatMap(({ type, consumers: own }) => own.map((consumer) => queueName(consumer, type)));
const deadQueues = consumers.map(deadQueueName);
const isOwn = (service: string) => (queue: string) => queue.startsWith(`${service}.`);

const folder = mkdtempSync(join(tmpdir(), 'rights-'));
const addresses = { broker: 'amqp://broker', store: 'mongodb://store/', mail: 'smtp://mail' };
const files = secretFiles({ keys: openKeys(folder), addresses });

/** On a broker that `control` commands: `engines.sh`, or something that takes the same commands. */
const describeRights = (broker: string, control: string) =>
  describe('the users of a deployment on RabbitMQ', () => {
    const users: { readonly name: string }[] = JSON.parse(files.get('rabbitmq/definitions.json') ?? '').users;
    // A URL in its environment would mean a broker that is not its own.
    const order = (...words: readonly string[]) =>
      promisify(execFile)(control, ['ctl', ...words], { env: { ...process.env, AMQP_URL: '' } });
    const urlOf = (user: string, from = files): string =>
      from.get(`${user}/AMQP_URL`)?.replace('@broker', `@${new URL(broker).host}`) ?? '';
    const logs = new Map<string, ReturnType<typeof memoryLog>>();
    const buses: Bus[] = [];
    const busOf = (user: string, from = files): Bus => {
      const log = memoryLog();
      logs.set(user, log);
      const bus = createAmqpBus({ url: urlOf(user, from), service: user, clock, log, jitter: () => 0 });
      buses.push(bus);
      return bus;
    };
    const declare = () => declareTopology({ url: urlOf('topology'), definitions: EVENTS, clock });
    const isUp = (user: string) => withChannel(urlOf(user), () => Promise.resolve(true)).catch(() => false);

    const importUsers = async (from = files) => {
      const file = join(folder, 'definitions.json');
      writeFileSync(file, from.get('rabbitmq/definitions.json') ?? '');
      await order('import_definitions', file);
    };
    beforeAll(async () => {
      await importUsers();
      for (const { name } of users) await expectEventually(() => isUp(name));
      await declare();
    });
    afterAll(async () => {
      await Promise.all(buses.map((bus) => bus.close()));
      await order('delete_vhost', VHOST);
      for (const { name } of users) await order('delete_user', name);
    });

    /** Whether the broker lets a user do that. */
    const may = async (user: string, work: (channel: Channel) => Promise<unknown>): Promise<boolean> => {
      try {
        await withChannel(urlOf(user), work);
        return true;
      } catch (error) {
        if (errorCode(error) === ACCESS_REFUSED) return false;
        throw error;
      }
    };
    const allowed = async (user: string, names: readonly string[], work: (name: string) => (channel: Channel) => Promise<unknown>) => {
      const found: string[] = [];
      for (const name of names) if (await may(user, work(name))) found.push(name);
      return found.toSorted();
    };
    const publishTo = (exchange: string) => (routingKey: string) => (channel: Channel) => {
      const sent = Promise.withResolvers<void>();
      channel.once('error', sent.reject);
      channel.publish(exchange, routingKey, Buffer.from('{}'), {}, (error) => {
        // The broker's reason comes with the error of the channel.
        if (!error) sent.resolve();
      });
      return sent.promise;
    };
    const read = (queue: string) => (channel: Channel) => channel.get(queue);

    it.each(publishers)('[MESSAGING-03] $name publishes its own types, past the exchange nothing', async ({ name, publishes }) => {
      expect(
        await allowed(
          name,
          EVENTS.map(({ type }) => type),
          publishTo(EVENTS_EXCHANGE),
        ),
      ).toEqual(publishes.toSorted());
      expect(await allowed(name, ['', 'identity', 'x.account.changed.v1'], publishTo(EVENTS_EXCHANGE))).toEqual([]);
      expect(await allowed(name, queues, publishTo(''))).toEqual([]);
      const own = consumers.includes(name) ? [...queues, ...deadQueues].filter(isOwn(name)) : [];
      expect(await allowed(name, [...queues, ...deadQueues], publishTo(QUEUES_EXCHANGE))).toEqual(own.toSorted());
    });

    it.each(publishers)('[MESSAGING-03] $name reads its own queues alone', async ({ name }) => {
      expect(await allowed(name, [...queues, ...deadQueues], read)).toEqual([...queues, ...deadQueues].filter(isOwn(name)).toSorted());
    });

    it.each([...publishers, { name: 'admin', publishes: [] }])('[MESSAGING-03] $name declares, binds and deletes nothing', async (user) => {
      const { name, publishes } = user;
      const [queue = ''] = queues.filter(isOwn(name)).concat(queues);
      const orders: readonly ((channel: Channel) => Promise<unknown>)[] = [
        (channel) => channel.assertQueue(`${name}.of-its-own`),
        (channel) => channel.assertQueue('', { exclusive: true }),
        (channel) => channel.assertExchange('other', 'topic'),
        (channel) => channel.bindQueue(queue, EVENTS_EXCHANGE, '#'),
        (channel) => channel.unbindQueue(queue, EVENTS_EXCHANGE, '#'),
        (channel) => channel.deleteQueue(queue),
        (channel) => channel.deleteExchange(EVENTS_EXCHANGE),
      ];
      for (const one of orders) expect(await may(name, one)).toBe(false);
      // Whether a queue is there is asked by who consumes it, who publishes its type, and operators.
      const asked = queues.find((one) => name === 'admin' || isOwn(name)(one) || publishes.some((type) => one.endsWith(`.${type}`))) ?? '';
      expect(await may(name, (channel) => channel.checkQueue(asked))).toBe(true);
    });

    it('[MESSAGING-03] the job of the topology publishes no event', async () => {
      expect(
        await allowed(
          'topology',
          EVENTS.map(({ type }) => type),
          publishTo(EVENTS_EXCHANGE),
        ),
      ).toEqual([]);
      expect(await may('topology', (channel) => channel.assertQueue('somebody.else'))).toBe(false);
    });

    it('no user is let in without its password, nor into another virtual host', async () => {
      for (const { name } of users) {
        const withPassword = (password: string) => urlOf(name).replace(/:[^:@/]+@/, `:${password}@`);
        for (const password of ['', 'guest', name])
          await expect(withChannel(withPassword(password), () => Promise.resolve())).rejects.toThrow();
        await expect(withChannel(urlOf(name).replace(`/${VHOST}`, ''), () => Promise.resolve())).rejects.toThrow();
      }
    });

    const anEvent = (type: string, data: unknown): CloudEvent => ({
      specversion: '1.0',
      id: `event-${JSON.stringify(data)}`,
      source: 'test',
      type,
      time: '2026-01-31T09:30:00.000Z',
      datacontenttype: 'application/json',
      data,
    });
    const Numbered = z.object({ n: z.int() });
    const readsNumbers = (event: EventDefinition) => ({ ...event, schema: Numbered });

    it.each(services.filter(({ consumes }) => consumes.length > 0))(
      '$name consumes what it is sent, dead-letters what it cannot read, and an operator sends that back',
      async ({ name, consumes }) => {
        await withChannel(urlOf('topology'), async (channel) => {
          for (const queue of [...queues, ...deadQueues].filter(isOwn(name))) await channel.purgeQueue(queue);
        });
        const own = EVENTS.filter(({ type }) => consumes.includes(type));
        const seen: string[] = [];
        const consuming = busOf(name);
        for (const event of own)
          await consuming.consume(
            name,
            eventHandler(readsNumbers(event), () => Promise.resolve(void seen.push(event.type))),
          );
        for (const event of own) {
          const publishing = busOf(event.publisher);
          for (const data of [{ n: 1 }, { n: 'one' }, { n: 3 }]) await publishing.publish(event, anEvent(event.type, data));
          await publishing.close();
        }
        const url = urlOf('admin');
        const areDead = async () => (await listDeadLetters({ url, consumer: name, limit: 100 })).length === own.length;
        await expectEventually(areDead);
        // Those that were listed are back a moment after the channel that read them was closed.
        const back = (channel: Channel) => Promise.all(deadQueues.filter(isOwn(name)).map((queue) => channel.checkQueue(queue)));
        await expectEventually(async () => {
          const queues = await withChannel(urlOf('topology'), back);
          return queues.reduce((sum, { messageCount }) => sum + messageCount, 0) === own.length;
        });
        expect(await redrive({ url, consumer: name })).toEqual({ moved: own.length, kept: 0 });
        await expectEventually(areDead);
        await expectEventually(() => seen.length >= 2 * own.length);
        expect(seen.toSorted()).toEqual(own.flatMap(({ type }) => [type, type]).toSorted());
        await consuming.close();
      },
    );

    it('a service waits for a queue that was deleted until the job has declared it again', async () => {
      const [service, type] = ['signup', 'identity.account.changed.v1'];
      const definition = EVENTS.find((event) => event.type === type);
      if (definition === undefined) throw new Error(`there is no event ${type}`);
      const seen: number[] = [];
      const consuming = busOf(service);
      await consuming.consume(
        service,
        eventHandler(readsNumbers(definition), ({ n }) => Promise.resolve(void seen.push(n))),
      );
      const publishing = busOf('identity-and-oauth');
      await publishing.publish(definition, anEvent(type, { n: 1 }));
      await expectEventually(() => seen.length === 1);
      await withChannel(urlOf('topology'), (channel) => channel.deleteQueue(queueName(service, type)));
      await expectEventually(() => logs.get(service)?.lines.some(({ message }) => message === 'lost queue could not be declared') ?? false);
      await declare();
      await publishing.publish(definition, anEvent(type, { n: 2 }));
      await expectEventually(() => seen.length === 2);
      expect(seen).toEqual([1, 2]);
    });

    it('a password that is changed ends no connection; one that ends otherwise comes back with the new password alone', async () => {
      const [user, type] = ['identity-and-oauth', 'identity.account.changed.v1'];
      const definition = EVENTS.find((event) => event.type === type);
      if (definition === undefined) throw new Error(`there is no event ${type}`);
      const renewed = secretFiles({ keys: openKeys(join(folder, 'renewed')), addresses });
      const running = busOf(user);
      await running.publish(definition, anEvent(type, { n: 1 }));
      await importUsers(renewed);
      await running.publish(definition, anEvent(type, { n: 2 }));
      await order('close_all_user_connections', user, 'its password was changed');
      await expectEventually(() => running.state().faults.some((fault) => fault.endsWith('refuses the user or the password')));
      await expect(running.publish(definition, anEvent(type, { n: 3 }))).rejects.toMatchObject({ name: 'BusUnavailable' });
      await busOf(user, renewed).publish(definition, anEvent(type, { n: 3 }));
      await importUsers();
    });
  });

afterAll(() => rmSync(folder, { recursive: true }));

describe('the definitions for the broker', () => {
  it('have a password for every user, and no two the same', () => {
    const { users } = JSON.parse(files.get('rabbitmq/definitions.json') ?? '');
    const hashes = users.map((user: { readonly password_hash: string }) => user.password_hash);
    expect(hashes.map((hash: string) => Buffer.from(hash, 'base64').length)).toEqual(users.map(() => 36));
    expect(new Set(hashes).size).toBe(users.length);
  });
});

const [url, control] = [process.env['AMQP_URL'], process.env['RABBITMQ_CONTROL']];
if (url && control) describeRights(url, control);
