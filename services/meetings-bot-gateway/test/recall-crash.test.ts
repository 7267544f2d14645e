import { setImmediate } from 'node:timers/promises';
import { memoryDatabase } from '@bubbles/testing/memory-database.ts';
import { mortalDatabase } from '@bubbles/testing/mortal-database.ts';
import { afterEach, describe, expect, it } from '@jest/globals';
import { bubbleIdOf } from '../src/domain/join.ts';
import { MEETING, startGateway, type TestGateway } from './gateway.ts';
import { type RecallServer, recallSettings, startRecallServer } from './recall-world.ts';

const LEASE_SECONDS = 60;
const MOST_STEPS = 200;

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).toReversed()) await stop();
});

const ask = ({ call }: TestGateway) => call('POST', '/v1/meetings/join', MEETING, { idempotencyKey: 'once' });

interface Flow {
  readonly during: (server: RecallServer) => void;
  readonly after: (server: RecallServer, survivor: TestGateway, joinId: string) => Promise<void>;
}

/** Dies one step of the store later each time, until the flow gets through; answers how often it died. */
const dieEverywhere = async ({ during, after }: Flow): Promise<number> => {
  for (let step = 1; step < MOST_STEPS; step += 1) {
    const server = await startRecallServer();
    const environment = recallSettings(server);
    const data = memoryDatabase();
    const database = mortalDatabase(data);
    const doomed = await startGateway({ database, environment });
    during(server);
    database.dieAt(step);
    await ask(doomed);
    let isSettled = false;
    const settled = doomed.settle().then(() => {
      isSettled = true;
    });
    while (!isSettled && !database.isDead()) await setImmediate();
    const died = database.isDead();
    if (!died) await settled;
    server.fail(null);
    const gone = doomed.stop();
    const survivor = await startGateway({ database: data, clock: doomed.clock, identity: doomed.identity, environment });
    stops.push(server.stop, survivor.stop);
    await survivor.pass(LEASE_SECONDS);
    await gone;
    const { status, body } = await ask(survivor);
    await survivor.settle();
    expect(status).toBe(201);
    await after(server, survivor, body.id);
    for (const stop of stops.splice(0).toReversed()) await stop();
    if (!died) return step - 1;
  }
  throw new Error('the flow never got through');
};

describe('dying between any two steps of a dispatch to Recall.ai', () => {
  it('[MEET-10][MEET-11] one bot is sent, and what it records is captured', async () => {
    const deaths = await dieEverywhere({
      during: () => undefined,
      async after(server, survivor, id) {
        expect(server.bots.map(({ joinId }) => joinId)).toEqual([id]);
        const bot = server.botOf(id);
        bot.kept = { recording: 'there', transcript: 'there' };
        for (const code of ['in_call_recording', 'call_ended', 'done']) server.move(bot, code);
        await survivor.passInSteps(300);
        expect(survivor.captured.map(({ bubble_id }) => bubble_id)).toEqual([bubbleIdOf(id)]);
        expect(bot.isErased).toBe(true);
      },
    });
    expect(deaths).toBeGreaterThan(15);
  });

  it('[MEET-10] whose answer was lost too: one bot is sent', async () => {
    const deaths = await dieEverywhere({
      during: (server) => server.fail('an answer that is lost'),
      async after(server, survivor, id) {
        await survivor.pass(60);
        expect(server.bots.map(({ joinId }) => joinId)).toEqual([id]);
        expect((await survivor.status(id)).body.status).toBe('dispatched');
      },
    });
    expect(deaths).toBeGreaterThan(15);
  });
});
