import { failEverywhere, falteringWorld } from '@bubbles/testing/faltering-world.ts';
import { memoryDatabase } from '@bubbles/testing/memory-database.ts';
import { afterEach, describe, expect, it } from '@jest/globals';
import { bubbleIdOf } from '../src/domain/join.ts';
import { fakeProvider } from './fake-provider.ts';
import { type Answer, fakeIdentity, startGateway, type TestGateway } from './gateway.ts';

const LEASE_SECONDS = 60;
/** Time passes twice: what failed at the first step is tried again at the second. */
const STEP_SECONDS = LEASE_SECONDS / 2 + 1;

let gateway: TestGateway;
afterEach(() => gateway.stop());

const passLease = async (): Promise<void> => {
  for (let passed = 0; passed < LEASE_SECONDS; passed += STEP_SECONDS) await gateway.pass(STEP_SECONDS);
};

const letters = (n: number): string =>
  n
    .toString(26)
    .padStart(3, '0')
    .replace(/\d/g, (digit) => 'qrstuvwxyz'[Number(digit)] ?? '');

describe('a store or identity that is away for one step', () => {
  it('[MEET-09][MEET-10] of a join and its recording: one notetaker is sent, one recording told', async () => {
    const { database, port, failing } = falteringWorld();
    const identity = fakeIdentity();
    gateway = await startGateway({
      database: database(memoryDatabase()),
      identity: { ...identity, client: port(identity.client, ['post']) },
      environment: { MEETINGS_PER_USER_AND_HOUR: '1000' },
    });
    const failures = await failEverywhere(async (step) => {
      const body = { meeting_url: `https://meet.google.com/${letters(step)}-aaaa-aaa` };
      // Who was not answered asks again, once what the first request holds has ended.
      const again = async (call: () => Promise<Answer>): Promise<Answer> => {
        const answer = await call();
        if (answer.status < 400) return answer;
        await passLease();
        return await call();
      };
      const { hasFailed, outcome: id } = await failing(step, async () => {
        const joined = await again(() => gateway.join(body, { idempotencyKey: `key-${step}` }));
        await passLease();
        await again(() => gateway.report(joined.body.id, { status: 'done' }));
        await passLease();
        return String(joined.body.id);
      });
      expect((await gateway.status(id)).body.status).toBe('done');
      expect((await gateway.runs()).filter(({ join_id }) => join_id === id)).toHaveLength(1);
      expect(await gateway.runs()).toHaveLength(step);
      const told = gateway.captured.filter(({ join_id }) => join_id === id);
      expect(new Set(told.map(({ bubble_id }) => bubble_id))).toEqual(new Set([bubbleIdOf(id)]));
      return hasFailed;
    });
    expect(failures).toBeGreaterThan(30);
  });

  it('[MEET-10] of a dispatch and the webhooks after it: one notetaker is sent, and no news is lost', async () => {
    const { database, failing } = falteringWorld();
    const provider = fakeProvider();
    gateway = await startGateway({ database: database(memoryDatabase()), provider, environment: { MEETINGS_PER_USER_AND_HOUR: '1000' } });
    // Who was not answered sends again, request or webhook.
    const told = async (event: string, about: object): Promise<void> => {
      const send = () => gateway.hook(provider.webhook(event, about));
      if ((await send()).status !== 204 && (await send()).status !== 204) throw new Error('a webhook is refused twice');
      await gateway.settle();
    };
    const failures = await failEverywhere(async (step) => {
      const meeting_url = `https://meet.google.com/${letters(step)}-aaaa-aaa`;
      const join = () => gateway.join({ meeting_url }, { idempotencyKey: `key-${step}` });
      const { hasFailed, outcome: id } = await failing(step, async () => {
        const first = await join();
        if (first.status >= 400) await passLease();
        const joinId = String((first.status < 400 ? first : await join()).body.id);
        await passLease();
        provider.move(joinId, { status: 'in_call' });
        await told(`e${step}`, { joinId });
        await gateway.pass(10);
        return joinId;
      });
      await passLease();
      expect((await gateway.status(id)).body.status).toBe('in_call');
      provider.move(id, { status: 'fatal', reason: 'entry_denied' });
      await told(`f${step}`, { joinId: id });
      await gateway.pass(3);
      expect((await gateway.status(id)).body).toMatchObject({ status: 'fatal', fatal_reason: 'entry_denied' });
      expect(provider.runs.filter(({ joinId }) => joinId === id)).toHaveLength(1);
      return hasFailed;
    });
    expect(failures).toBeGreaterThan(30);
  });
});
