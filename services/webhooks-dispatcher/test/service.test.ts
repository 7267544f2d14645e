import { setImmediate } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import { aBubble } from './builders.ts';
import { CONFIG, startDispatcher, type TestDispatcher } from './dispatcher.ts';
import { deliveryIdOf, startReceiver, type TestReceiver } from './receivers.ts';

const BACKLOG = 60;
/** Of the event loop: more than a request on this machine takes. */
const TURNS = 300;

let dispatcher: TestDispatcher;
let receiver: TestReceiver;
const start = async () => {
  [dispatcher, receiver] = [await startDispatcher(), await startReceiver()];
};
afterEach(() => Promise.all([dispatcher.stop(), receiver.close()]));

describe('the service', () => {
  it('[DLV-01] [HOOK-09] carries a ready bubble from the bus to the receiver, and its result back to the subscription', async () => {
    await start();
    const { id } = await dispatcher.subscribe({ url: receiver.url });
    await dispatcher.ready();
    await dispatcher.settle();
    expect(receiver.received).toHaveLength(1);
    const { body } = await dispatcher.call('GET', `/${id}`);
    expect(body.last_success_at).toBe(dispatcher.clock.now().toISOString());
    expect(await dispatcher.registry.getSingleMetricAsString('webhook_attempts_total')).toContain(
      'webhook_attempts_total{outcome="2xx"} 1',
    );
  });

  it('is not settled while an attempt is on the wire', async () => {
    await start();
    const held = Promise.withResolvers<void>();
    receiver.answer((response) => held.promise.then(() => response.end()));
    const { id } = await dispatcher.subscribe({ url: receiver.url });
    await dispatcher.ready();
    const settled = dispatcher.settle().then(() => 'settled');
    await receiver.reached(1);
    expect(await Promise.race([settled, Promise.resolve('in flight')])).toBe('in flight');
    held.resolve();
    expect(await settled).toBe('settled');
    expect((await dispatcher.deliveries(id))[0].status).toBe('succeeded');
  });

  it('does not start with keys that open nothing of what is stored, and says which', async () => {
    await start();
    await dispatcher.subscribe({ url: receiver.url });
    const starting = (id: string) => startDispatcher({ ...dispatcher, config: { sealKeys: [{ id, key: Buffer.alloc(32, 9) }] } });
    const [{ id: known = '' } = {}] = CONFIG.sealKeys;
    await expect(starting(known)).rejects.toMatchObject({
      name: 'ConfigError',
      message: expect.stringContaining(`SEAL_KEYS: the key ${known} `),
    });
    await expect(starting('other')).rejects.toMatchObject({
      name: 'ConfigError',
      message: expect.stringContaining('SEAL_KEYS: what is stored'),
    });
  });

  it('[DLV-05] [HOOK-08] ends without the attempts that are still on the wire after its time, and holds nothing against their receiver', async () => {
    await start();
    receiver.answer(() => undefined);
    const { id } = await dispatcher.subscribe({ url: receiver.url });
    await dispatcher.ready();
    await receiver.reached(1);
    await dispatcher.service.stop(1);
    expect(dispatcher.log.lines.filter(({ level }) => level === 'error')).toEqual([]);
    const next = await startDispatcher(dispatcher);
    expect(await next.deliveries(id)).toMatchObject([{ status: 'pending', attempts: [] }]);
    expect((await next.call('GET', `/${id}`)).body.last_failure_at).toBeNull();
    receiver.answer(200);
    await next.pass(60);
    expect(new Set(receiver.received.map(deliveryIdOf)).size).toBe(1);
    expect(await next.deliveries(id)).toMatchObject([{ status: 'succeeded', attempts: [{ number: 1, status: 200 }] }]);
    await next.stop();
  });

  it('[DLV-05] ends when the attempts on the wire have been recorded', async () => {
    await start();
    const held = Promise.withResolvers<void>();
    receiver.answer((response) => held.promise.then(() => response.end()));
    await dispatcher.subscribe({ url: receiver.url });
    await dispatcher.ready();
    await receiver.reached(1);
    const stopped = dispatcher.service.stop();
    held.resolve();
    await stopped;
    const next = await startDispatcher(dispatcher);
    const [{ id }] = (await next.call('GET')).body.data;
    expect(await next.deliveries(id)).toMatchObject([{ id: receiver.received.map(deliveryIdOf)[0], status: 'succeeded' }]);
    await next.stop();
  });

  it('[DLV-05] ends in the middle of a backlog, and leaves the rest to the next one', async () => {
    await start();
    const { peers } = dispatcher;
    /** So late that the attempts before have made room again: there is always more to take on. */
    const lateAnswer: typeof peers.identity.post = async (path, call) => {
      for (let turn = 0; turn < TURNS; turn += 1) await setImmediate();
      return peers.identity.post(path, call);
    };
    await dispatcher.stop();
    dispatcher = await startDispatcher({ ...dispatcher, peers: { ...peers, identity: { ...peers.identity, post: lateAnswer } } });
    await dispatcher.subscribe({ url: receiver.url });
    for (let n = 0; n < BACKLOG; n += 1) await dispatcher.ready({ bubble: aBubble({ id: `b-${n}` }) });
    await receiver.reached(5);
    await dispatcher.service.stop();
    expect(receiver.received.length).toBeLessThan(BACKLOG);
    const next = await startDispatcher({ ...dispatcher, peers });
    await next.settle();
    await next.stop();
    expect(receiver.received).toHaveLength(BACKLOG);
    expect(new Set(receiver.received.map(deliveryIdOf)).size).toBe(BACKLOG);
  });

  it('refuses a lease that an attempt could outlive', async () => {
    await start();
    const limits = {
      perSubscription: 4,
      perOrigin: 64,
      perProcess: 256,
      reservedForFirst: 64,
      forTimedOut: 64,
      leaseMs: 20_000,
      claimWindowMs: 2,
    };
    await expect(startDispatcher({ config: { limits } })).rejects.toThrow('lease');
  });
});
