import { setImmediate } from 'node:timers/promises';
import { memoryDatabase } from '@bubbles/testing/memory-database.ts';
import { type MortalDatabase, mortalDatabase } from '@bubbles/testing/mortal-database.ts';
import { TEAM } from './builders.ts';
import { fakeIdentity, MEETING, startGateway, type TestGateway } from './gateway.ts';

const LEASE_SECONDS = 60;
/** More than the flow has. */
const MOST_STEPS = 300;

/** A team on plan free, so that each join takes a place of both quotas. */
const freeTeam = (): ReturnType<typeof fakeIdentity> => {
  const identity = fakeIdentity();
  identity.teams.set(TEAM, { id: TEAM, known: true, plan: 'free', archived: false, channel_ids: [] });
  return identity;
};

/** Until all that is due is done, or the process is dead. */
const workedOff = async (doomed: TestGateway, database: MortalDatabase): Promise<void> => {
  let ended = false;
  const settled = doomed.settle().then(() => {
    ended = true;
  });
  while (!ended && !database.isDead()) await setImmediate();
  if (!database.isDead()) await settled;
};

/** The same request, whoever sends it again. */
export const ask = ({ call }: TestGateway) => call('POST', '/v1/meetings/join', MEETING, { idempotencyKey: 'once' });
export const tell = ({ call }: TestGateway, id: string, status: string) => call('POST', `/internal/v1/admin/notetakers/${id}`, { status });

interface Flow {
  /** Of each process, where it is not the usual one. */
  readonly environment?: () => Promise<Readonly<Record<string, string>>>;
  /** What the doomed one does, each time one step shorter of its end. */
  readonly work: (doomed: TestGateway, settle: () => Promise<void>) => Promise<void>;
  readonly judge: (survivor: TestGateway, told: TestGateway['captured']) => Promise<void>;
}

/** Runs the flow again and again on new stores, dying one step later each time, until it gets through; answers how many deaths there were. */
export const dieEverywhere = async ({ work, judge, environment: environmentOf }: Flow): Promise<number> => {
  for (let step = 1; step < MOST_STEPS; step += 1) {
    const data = memoryDatabase();
    const environment = (await environmentOf?.()) ?? {};
    const database = mortalDatabase(data);
    const doomed = await startGateway({ database, identity: freeTeam(), environment });
    database.dieAt(step);
    await work(doomed, () => workedOff(doomed, database));
    const died = database.isDead();
    const gone = doomed.stop();
    const survivor = await startGateway({ database: data, clock: doomed.clock, identity: doomed.identity, environment });
    try {
      await survivor.pass(LEASE_SECONDS);
      await gone;
      await survivor.settle();
      await judge(survivor, [...doomed.captured, ...survivor.captured]);
    } finally {
      await survivor.stop();
    }
    if (!died) return step - 1;
  }
  throw new Error('the flow never got through');
};
