import { systemIds } from '@bubbles/kernel/ids.ts';
import { describe, expect, it } from '@jest/globals';
import { type ChannelModel, connect, type RecoveringChannelModel } from 'amqplib';

const plain = (url: string) => connect(url, { noDelay: true });

/** Each test shows a fault that the bus works around. When one fails after an update of amqplib, the workaround that it names can go. */
export const describeAmqplibFaults = (url: string) =>
  describe('amqplib', () => {
    const recovering = (setup: (model: ChannelModel) => Promise<void>): Promise<RecoveringChannelModel> =>
      connect(url, { noDelay: true, recovery: { waitForConnect: false, setup } });

    it('does not listen for errors of a new connection during setup (#738): the listener of `proveAlive`', async () => {
      const listeners = Promise.withResolvers<number>();
      const connection = await recovering((model) => Promise.resolve(listeners.resolve(model.listenerCount('error'))));
      expect(await listeners.promise).toBe(0);
      await connection.close();
    });

    it('takes a connection that closed during setup for open (#738): the round trip of `proveAlive`', async () => {
      const connected = Promise.withResolvers<ChannelModel>();
      const connection = await recovering(async (model) => {
        const closed = new Promise<void>((resolve) => model.once('close', () => resolve()));
        model.on('error', () => undefined);
        await model.close();
        await closed;
      });
      connection.on('connect', connected.resolve);
      await expect((await connected.promise).createChannel()).rejects.toThrow('Connection closed');
      await connection.close();
    });

    it('ends a connection with a channel that the broker closes and nobody listens to (#649): `listenTo`', async () => {
      const connection = await plain(url);
      const failed = new Promise<Error>((resolve) => connection.once('error', resolve));
      const channel = await connection.createChannel();
      await expect(channel.checkQueue(`missing-${systemIds().uuid()}`)).rejects.toThrow('NOT_FOUND');
      expect((await failed).message).toContain('NOT_FOUND');
      await expect(connection.createChannel()).rejects.toThrow('Connection closed');
    });

    it('drops acknowledgements when the connection is closed before the channel (#637): the close of the channel in `withChannel`', async () => {
      const queue = `closing-${systemIds().uuid()}`;
      const [observer, connection] = [await plain(url), await plain(url)];
      const watching = await observer.createConfirmChannel();
      await watching.assertQueue(queue);
      watching.sendToQueue(queue, Buffer.from('one'));
      await watching.waitForConfirms();
      const channel = await connection.createChannel();
      const message = await channel.get(queue);
      if (message !== false) channel.ack(message);
      await connection.close();
      expect((await watching.checkQueue(queue)).messageCount).toBe(1);
      await watching.deleteQueue(queue);
      await observer.close();
    });
  });
