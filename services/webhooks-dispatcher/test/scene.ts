import { startDispatcher, type TestDispatcher, type TestDispatcherOptions } from './dispatcher.ts';
import { type Behaviour, startReceiver, type TestReceiver } from './receivers.ts';

/** A dispatcher and receivers, ended together. */
export interface Scene {
  readonly dispatcher: TestDispatcher;
  /** Ends the dispatcher and starts another one on what it left. */
  restart(options?: Pick<TestDispatcherOptions, 'config' | 'peers'>): Promise<void>;
  /** A receiver and a subscription that leads to it. */
  subscriber(fields?: object, behaviour?: Behaviour): Promise<Subscriber>;
  stop(): Promise<void>;
}

export interface Subscriber {
  readonly id: string;
  readonly secret: string;
  readonly receiver: TestReceiver;
  // biome-ignore lint/suspicious/noExplicitAny: as it is shown; a test reads the fields that it asserts.
  shown(): Promise<any>;
  /** The delivery log, newest first. */
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  log(): Promise<any[]>;
}

export const openScene = async (options: TestDispatcherOptions = {}): Promise<Scene> => {
  let dispatcher = await startDispatcher(options);
  const receivers: TestReceiver[] = [];
  return {
    get dispatcher() {
      return dispatcher;
    },
    async restart(changed = {}) {
      await dispatcher.stop();
      const { database, clock, bus, peers } = dispatcher;
      dispatcher = await startDispatcher({ ...options, database, clock, bus, peers, ...changed });
    },
    async subscriber(fields = {}, behaviour = 204) {
      const receiver = await startReceiver(behaviour);
      receivers.push(receiver);
      const { id, secret } = await dispatcher.subscribe({ url: receiver.url, ...fields });
      return {
        id,
        secret,
        receiver,
        shown: async () => (await dispatcher.call('GET', `/${id}`)).body,
        log: () => dispatcher.deliveries(id),
      };
    },
    async stop() {
      await Promise.all(receivers.map((receiver) => receiver.close()));
      await dispatcher.stop();
    },
  };
};
