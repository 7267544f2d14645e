import { setImmediate } from 'node:timers/promises';
import { memoryDatabase } from '@bubbles/testing/memory-database.ts';
import { type MortalDatabase, mortalDatabase } from '@bubbles/testing/mortal-database.ts';
import { startDispatcher, type TestDispatcher, type TestDispatcherOptions } from './dispatcher.ts';
import { type Behaviour, startReceiver, type TestReceiver } from './receivers.ts';

/** More than any of the flows has: a flow that ends before is through. */
const MOST_STEPS = 120;
export const LEASE_SECONDS = 60;

export interface World {
  readonly database: MortalDatabase;
  readonly doomed: TestDispatcher;
  readonly receiver: TestReceiver;
  readonly id: string;
  /** Another process on what the dead one left. */
  survive(): Promise<TestDispatcher>;
  end(): Promise<void>;
}

const worlds: World[] = [];
export const endWorlds = async (): Promise<void> => {
  for (const world of worlds.splice(0)) await world.end();
};

type Config = NonNullable<TestDispatcherOptions['config']>;

export const world = async (behaviour: Behaviour, config: Config = {}): Promise<World> => {
  const data = memoryDatabase();
  const database = mortalDatabase(data);
  const doomed = await startDispatcher({ database, config });
  const receiver = await startReceiver(behaviour);
  const { id } = await doomed.subscribe({ url: receiver.url });
  const survivors: TestDispatcher[] = [];
  const made: World = {
    database,
    doomed,
    receiver,
    id,
    async survive() {
      // A process that is dead waits for nothing: what it still holds ends with its leases.
      const gone = doomed.stop();
      const { clock, peers } = doomed;
      const survivor = await startDispatcher({ database: data, clock, peers, config });
      survivors.push(survivor);
      await survivor.pass(LEASE_SECONDS);
      await gone;
      await survivor.settle();
      return survivor;
    },
    async end() {
      await receiver.close();
      for (const survivor of survivors) await survivor.stop();
    },
  };
  worlds.push(made);
  return made;
};

interface Flow {
  readonly config?: Config;
  readonly behaviour: Behaviour;
  readonly before?: (world: World) => Promise<void>;
  /** What the doomed one does; true when it answered that it is done. */
  readonly work: (world: World) => Promise<boolean>;
  /** What whoever asked does when there was no answer. */
  readonly again?: (survivor: TestDispatcher, world: World) => Promise<void>;
  readonly judge: (survivor: TestDispatcher, world: World, done: boolean) => Promise<void>;
}

/** Runs the flow again and again in new worlds, dying one step later each time, until it gets through; answers how many deaths there were. */
export const dieEverywhere = async ({ behaviour, config, before, work, again, judge }: Flow): Promise<number> => {
  for (let step = 1; step < MOST_STEPS; step += 1) {
    const here = await world(behaviour, config);
    await before?.(here);
    here.database.dieAt(step);
    const done = await work(here);
    const died = here.database.isDead();
    const survivor = await here.survive();
    if (!done) await again?.(survivor, here);
    await survivor.settle();
    await judge(survivor, here, done);
    if (!died) return step - 1;
  }
  throw new Error('the flow never got through');
};

/** Until all that is due is done, or the process is dead. */
export const workedOff = async ({ doomed, database }: World): Promise<void> => {
  let ended = false;
  const settled = doomed.settle().then(() => {
    ended = true;
  });
  while (!ended && !database.isDead()) await setImmediate();
  if (!database.isDead()) await settled;
};
