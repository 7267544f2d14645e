import { DomainError } from '@bubbles/kernel/errors.ts';
import type { Collection, Database, Doc } from '@bubbles/store/collection.ts';
import { memoryDatabase } from '@bubbles/testing/memory-database.ts';
import { type Answer, type Person, startIdentity, type TestIdentity } from './identity.ts';

interface CrashingDatabase extends Database {
  /** How many more steps of the store are done before the process is dead to it. */
  dieAfter(steps: number): void;
  readonly isDead: boolean;
}

/** The same data as `database`, seen by a process that dies between two steps. */
const crashingDatabase = (database: Database): CrashingDatabase => {
  let left = Number.POSITIVE_INFINITY;
  let dead = false;
  const step = async (work: () => unknown): Promise<unknown> => {
    dead ||= left <= 0;
    if (dead) throw new DomainError('unavailable', 'The process is dead.');
    left -= 1;
    return await work();
  };
  const crashing = <T extends Doc>(collection: Collection<T>): Collection<T> =>
    new Proxy(collection, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name);
        return typeof member === 'function' ? (...args: unknown[]) => step(() => member.apply(target, args)) : member;
      },
    });
  return {
    collection: <T extends Doc>(name: string) => crashing(database.collection<T>(name)),
    ping: () => database.ping(),
    close: () => database.close(),
    dieAfter: (steps) => {
      left = steps;
    },
    get isDead() {
      return dead;
    },
  };
};

/** More than any of the flows has: a flow that ends before is through. */
const MOST_STEPS = 40;
const LEASES_OVER_MS = 60_000;

export interface World {
  readonly doomed: TestIdentity;
  readonly survivor: TestIdentity;
  readonly database: CrashingDatabase;
  readonly ada: Person;
}

const world = async (): Promise<World> => {
  const data = memoryDatabase();
  const database = crashingDatabase(data);
  const doomed = await startIdentity({ database });
  const survivor = await startIdentity({ database: data, clock: doomed.clock });
  const ada = await survivor.person();
  await survivor.join(await survivor.team(), ada.id);
  await survivor.settle();
  return { doomed, survivor, database, ada };
};

/** Runs the flow again and again in new worlds, dying one step later each time, until it gets through; answers how many deaths there were. */
export const dieEverywhere = async <R extends { readonly status: number } = Answer>(
  flow: (world: World) => Promise<R>,
  judge: (world: World, answer: R | null) => Promise<void>,
) => {
  for (let steps = 0; steps < MOST_STEPS; steps += 1) {
    const here = await world();
    here.database.dieAfter(steps);
    const answer = await flow(here);
    const died = here.database.isDead;
    await here.doomed.stop().catch(() => undefined);
    await here.survivor.clock.advance(LEASES_OVER_MS);
    await here.survivor.settle();
    await judge(here, answer.status < 500 ? answer : null);
    await here.survivor.stop();
    if (!died) return steps;
  }
  throw new Error('the flow never got through');
};
