import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { openCrowd } from '../chaos/support/crowd.ts';

export interface LoadSettings extends Omit<Parameters<typeof openCrowd>[0], 'codes' | 'gatewayUrls'> {
  readonly gatewayUrl: string;
  readonly mailsUrl: string;
}

/** What came of a load: turns of people, with all that each asks for. */
export interface Served {
  readonly turns: number;
  readonly requests: number;
  readonly connections: number;
  /** Requests without an answer, or refused with a status of 500 and above. */
  readonly failures: readonly string[];
  /** Turns that did not come to their end. */
  readonly broken: readonly string[];
}
type Crowd = Awaited<ReturnType<typeof openCrowd>>;
type Faults = Awaited<ReturnType<Crowd['faults']>> & Pick<Crowd, 'repeated'>;

export interface LoadOrder {
  readonly number: number;
  readonly task: 'begin' | 'end' | 'faults';
  /** Those whose load it is; all when absent. */
  readonly services?: readonly string[];
}
type Reply = { readonly number: number } & ({ readonly answered: unknown } | { readonly refused: string });

/** The process of the load, in the network of a process of the node. */
export const openLoad = async (inside: string, settings: LoadSettings) => {
  const enter = ['--target', inside, '--net', '--', process.execPath];
  const child = fork(new URL('load-process.ts', import.meta.url), { execPath: 'nsenter', execArgv: enter });
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`the load ended with ${code}`);
  });
  ended.catch(() => null);
  child.send({ ...settings });
  await Promise.race([once(child, 'message'), ended]);
  let number = 0;
  const ask = async (order: Omit<LoadOrder, 'number'>): Promise<unknown> => {
    const asked = { number: number++, ...order };
    const heard = Promise.withResolvers<Reply>();
    // The other end of the channel is ours.
    const hear = (message: unknown) => {
      const reply = message as Reply;
      if (reply.number === asked.number) heard.resolve(reply);
    };
    child.on('message', hear);
    child.send(asked);
    const reply = await Promise.race([heard.promise, ended]);
    child.off('message', hear);
    if ('refused' in reply) throw new Error(reply.refused);
    return reply.answered;
  };
  return {
    /** While the work is done: the load of these services, or of all. */
    async during(work: () => Promise<unknown>, services?: readonly string[]): Promise<Served> {
      await ask({ task: 'begin', ...(services && { services }) });
      try {
        await work();
      } finally {
        await ask({ task: 'end' });
      }
      return (await ask({ task: 'end' })) as Served;
    },
    /** Waits for all that was recorded. */
    faults: async (): Promise<Faults> => (await ask({ task: 'faults' })) as Faults,
    close() {
      child.disconnect();
    },
  };
};
