import { afterEach, describe, expect, it } from '@jest/globals';
import { bubbleIdOf } from '../src/domain/join.ts';
import { type FakeProvider, fakeProvider } from './fake-provider.ts';
import { startGateway, type TestGateway } from './gateway.ts';

const running: TestGateway[] = [];
const gateway = async (provider: FakeProvider, options: Parameters<typeof startGateway>[0] = {}): Promise<TestGateway> => {
  const started = await startGateway({ ...options, provider });
  running.push(started);
  return started;
};
afterEach(async () => {
  for (const one of running.splice(0).toReversed()) await one.stop();
});

/** A join whose notetaker was sent, before anything of it was asked. */
const sent = async (provider: FakeProvider, options?: Parameters<typeof startGateway>[0]) => {
  const started = await gateway(provider, options);
  const { id } = (await started.join()).body;
  const hint = (event: string) => started.hook(provider.webhook(event, { joinId: id }));
  return { ...started, id, hint };
};
const looks = ({ calls }: FakeProvider) => calls.filter((call) => call.startsWith('snapshot'));
const kept = ({ database }: TestGateway) => database.collection('provider_events').find({});

describe('POST /hooks/notetakers/{provider}', () => {
  it('[MEET-10] is answered when it is kept, and the join follows what its provider then says', async () => {
    const provider = fakeProvider();
    const { id, hint, status, settle, captured } = await sent(provider);
    provider.move(id, { status: 'recording', recordedEver: true });
    expect((await hint('e1')).status).toBe(204);
    await settle();
    expect((await status(id)).body).toMatchObject({ status: 'recording', bot_in_call: true });
    provider.move(id, { status: 'done' });
    await hint('e2');
    await running[0]?.pass(3);
    expect((await status(id)).body).toMatchObject({ status: 'done', bot_in_call: false });
    expect(captured.map(({ bubble_id }) => bubble_id)).toEqual([bubbleIdOf(id)]);
  });

  it('is a hint alone: what it claims counts for nothing', async () => {
    const provider = fakeProvider();
    const { hint, status, id, settle } = await sent(provider);
    await hint('e1');
    await settle();
    expect((await status(id)).body.status).toBe('dispatched');
    expect(looks(provider)).toHaveLength(1);
  });

  it('refuses what is not signed by the provider, keeps nothing of it and counts it', async () => {
    const provider = fakeProvider();
    const started = await sent(provider);
    const { headers, body } = provider.webhook('e1', { joinId: started.id });
    for (const signature of ['forged', '']) {
      const refused = await started.hook({ headers: { ...headers, 'x-webhook-signature': signature }, body });
      expect([refused.status, await refused.text()]).toEqual([401, expect.stringContaining('"unauthorized"')]);
    }
    await started.settle();
    expect([await kept(started), looks(provider)]).toEqual([[], []]);
    expect(await started.metric('meeting_provider_webhooks_total')).toContain('{provider="simulator",result="refused"} 2');
  });

  it('answers for a provider that is not configured as for one that nobody knows', async () => {
    const provider = fakeProvider();
    const started = await sent(provider);
    const webhook = provider.webhook('e1', { joinId: started.id });
    const answers: (readonly [number, string])[] = [];
    for (const name of ['recall', 'nobody', '%2e']) {
      const response = await started.hook(webhook, name);
      answers.push([response.status, await response.text()]);
    }
    expect(answers.map(([code]) => code)).toEqual([404, 404, 404]);
    expect(new Set(answers.map(([, text]) => text)).size).toBe(1);
    expect(await kept(started)).toEqual([]);
  });

  it('refuses a body that is too large, and one of another kind', async () => {
    const provider = fakeProvider();
    const started = await gateway(provider);
    const webhook = provider.webhook('e1', {});
    expect((await started.hook({ ...webhook, body: ' '.repeat(256 * 1024 + 1) })).status).toBe(400);
    expect((await started.hook({ ...webhook, headers: { ...webhook.headers, 'content-type': 'text/plain' } })).status).toBe(400);
  });

  it('counts an event once, however often it comes, at once too', async () => {
    const provider = fakeProvider();
    const { hint, settle } = await sent(provider);
    const answers = await Promise.all(Array.from({ length: 10 }, () => hint('e1')));
    await settle();
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 204));
    expect(looks(provider)).toHaveLength(1);
    await running[0]?.pass(60);
    await hint('e1');
    await settle();
    expect(looks(provider)).toHaveLength(1);
  });

  it('makes few looks of a flood about one join', async () => {
    const provider = fakeProvider();
    const { hint, settle, pass } = await sent(provider);
    for (let n = 0; n < 50; n += 1) await hint(`e${n}`);
    await settle();
    await pass(10);
    expect(looks(provider).length).toBeLessThanOrEqual(2);
    for (let n = 50; n < 100; n += 1) await hint(`e${n}`);
    await pass(2);
    expect(looks(provider).length).toBeLessThanOrEqual(3);
  });

  it('looks again at a join of which news came while it was asked', async () => {
    const provider = fakeProvider();
    const { id, hint, settle, pass, status } = await sent(provider);
    const { notetaker } = provider;
    const asked = notetaker.snapshot;
    let isFirst = true;
    Object.assign(notetaker, {
      async snapshot(ref: string) {
        const seen = await asked(ref);
        if (!isFirst) return seen;
        isFirst = false;
        provider.move(id, { status: 'in_call' });
        await hint('e2');
        return seen && { ...seen, status: 'joining' };
      },
    });
    provider.move(id, { status: 'joining' });
    await hint('e1');
    await settle();
    await pass(3);
    expect((await status(id)).body.status).toBe('in_call');
  });

  it('[MEET-10] answers while the provider itself hangs, and the news is not lost', async () => {
    const provider = fakeProvider();
    const { id, hint, status, pass } = await sent(provider);
    provider.move(id, { status: 'in_call' });
    provider.mode = 'hangs';
    const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => hint(`e${n}`)));
    expect(answers.map((answer) => answer.status)).toEqual(answers.map(() => 204));
    expect((await status(id)).body.status).toBe('dispatched');
    provider.cut();
    provider.mode = 'there';
    await pass(10);
    expect((await status(id)).body.status).toBe('in_call');
  });

  it('waits for the answer to the dispatch, whichever way it names the run', async () => {
    const provider = fakeProvider();
    provider.mode = 'loses answers';
    const started = await gateway(provider);
    const { id } = (await started.join()).body;
    provider.move(id, { status: 'joining' });
    await started.hook(provider.webhook('e1', { joinId: id }));
    await started.hook(provider.webhook('e2', { ref: 'run-1' }));
    provider.mode = 'there';
    await started.pass(1);
    expect((await started.status(id)).body.status).toBe('dispatched');
    await started.pass(5);
    expect((await started.status(id)).body.status).toBe('joining');
    provider.move(id, { status: 'in_call' });
    await started.pass(10);
    expect((await started.status(id)).body.status).toBe('in_call');
    expect(provider.runs).toHaveLength(1);
  });

  it('lets hints end that are about no join of ours, or one that is over', async () => {
    const provider = fakeProvider();
    const { id, hint, hook, call, settle, pass, database } = await sent(provider);
    await call('DELETE', `/v1/meetings/join/${id}`);
    await settle();
    await hint('e1');
    await hook(provider.webhook('e2', { joinId: 'mj_unknown' }));
    await hook(provider.webhook('e3', { ref: 'run-of-others' }));
    await hook(provider.webhook('e4', {}));
    for (let passed = 0; passed < 200; passed += 20) await pass(20);
    expect(looks(provider)).toEqual([]);
    const events = await database.collection<{ readonly _id: string; readonly dueAt?: Date }>('provider_events').find({});
    expect(events.map(({ _id, dueAt }) => [_id, dueAt]).toSorted()).toEqual(
      ['e1', 'e2', 'e3'].map((event) => [`simulator:${event}`, undefined]),
    );
  });

  it('never touches the join of another provider', async () => {
    const provider = fakeProvider();
    const { id, hint, settle, database } = await sent(provider);
    const joins = database.collection<{ readonly _id: string; readonly provider: string; readonly hintedAt: Date | null }>('joins');
    await joins.updateOne({ _id: id }, { $set: { provider: 'another' } });
    await hint('e1');
    await settle();
    expect(await joins.findOne({ _id: id })).toMatchObject({ hintedAt: null });
    expect(looks(provider)).toEqual([]);
  });

  const tries = ({ calls }: FakeProvider) => calls.filter((call) => call.startsWith('recording'));
  /** A join whose recording was asked for many times, and is asked for in minutes again. */
  const waiting = async (provider: FakeProvider) => {
    const started = await sent(provider);
    provider.move(started.id, { status: 'done', recordedEver: true });
    provider.isPending = true;
    await started.hint('e1');
    for (let step = 0; step < 40; step += 1) await started.pass(10);
    expect((await started.status(started.id)).body.status).toBe('done');
    return started;
  };

  it('[MEET-09] lets a recording be captured as soon as the provider tells that it is there', async () => {
    const provider = fakeProvider();
    const { captured, hint, settle, pass } = await waiting(provider);
    const before = tries(provider).length;
    provider.isPending = false;
    await hint('e2');
    await settle();
    await pass(3);
    expect([captured.length, tries(provider).length]).toEqual([1, before + 1]);
  });

  it('keeps events for two days', async () => {
    const provider = fakeProvider();
    const started = await sent(provider);
    await started.hint('e1');
    await started.settle();
    for (const [hours, count] of [
      [47, 1],
      [1, 0],
    ] as const) {
      await started.pass(hours * 3600);
      await started.runJob('sweep-provider-events');
      expect(await kept(started)).toHaveLength(count);
    }
  });
});
