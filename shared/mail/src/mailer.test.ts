import type { Loop, LoopContext } from '@bubbles/kernel/loop.ts';
import { createSeal } from '@bubbles/kernel/seal.ts';
import type { Database } from '@bubbles/store/collection.ts';
import { type CapturedLog, capturedLog } from '@bubbles/testing/captured-log.ts';
import { type FakeClock, fakeClock } from '@bubbles/testing/fake-clock.ts';
import { fakeIds } from '@bubbles/testing/fake-ids.ts';
import { type FakeMailTransport, fakeMailTransport } from '@bubbles/testing/fake-mail-transport.ts';
import { memoryDatabase } from '@bubbles/testing/memory-database.ts';
import { afterEach, describe, expect, it } from '@jest/globals';
import { Registry } from 'prom-client';
import { type MakeDatabase, onEveryEngine, openedIn } from '../test/engines.ts';
import { createMailer, openMails } from './mailer.ts';
import { type Mail, MailFailure } from './transport.ts';

const SECOND_MS = 1000;
const LIFE_MS = 600 * SECOND_MS;
const KEYS = [{ id: 'k1', key: Buffer.alloc(32, 'key') }];

const failing = (...failure: ConstructorParameters<typeof MailFailure>) => {
  return () => Promise.reject(new MailFailure(...failure));
};

const loops: Loop[] = [];
afterEach(async () => {
  for (const loop of loops.splice(0)) await loop.stop();
});

interface Shared {
  readonly database: Database;
  readonly clock: FakeClock;
  readonly transport: FakeMailTransport;
  readonly captured: CapturedLog;
}

const contextOf = ({ clock, captured }: Shared): LoopContext => ({ clock, log: captured.log });

/** One process that sends mails. */
const replica = async ({ database, clock, transport, captured }: Shared, name: string, keys = KEYS) => {
  const registry = new Registry();
  const ids = fakeIds(name);
  const mails = await openedIn(database, openMails);
  const seal = createSeal(keys, ids.bytes);
  const mailer = createMailer({ mails, transport, seal, clock, ids, log: captured.log, registry });
  const metric = async (metricName: string) => (await registry.getSingleMetric(metricName)?.get())?.values ?? [];
  return { mailer, mails, metric };
};

const scene = async (make: MakeDatabase = memoryDatabase) => {
  const shared = { database: make(), clock: fakeClock(), transport: fakeMailTransport(), captured: capturedLog() };
  const { mailer, mails, metric } = await replica(shared, 'one');
  const start = () => {
    mailer.loop.start(contextOf(shared));
    loops.push(mailer.loop);
  };
  const aMail = (id = 'mail-1', more: Partial<Mail> = {}): Mail => ({
    id,
    to: 'ada@example.test',
    subject: 'Your code',
    text: 'Your code is 123456.',
    html: '<p>Your code is <b>123456</b>.</p>',
    dropAt: new Date(shared.clock.now().getTime() + LIFE_MS),
    ...more,
  });
  return { ...shared, shared, mailer, mails, metric, start, aMail };
};

const contract = (make: MakeDatabase) => {
  it('sends a mail once, erases it and keeps its id until it is over', async () => {
    const { mailer, mails, start, aMail, transport, clock } = await scene(make);
    start();
    await mailer.send(aMail());
    await mailer.loop.idle();
    const { dropAt, ...content } = aMail();
    expect(transport.accepted).toEqual([content]);
    expect(await mails.find({})).toMatchObject([{ _id: 'mail-1', sealed: null, queuedAt: null, dueAt: dropAt }]);
    await mailer.send(aMail('mail-1', { text: 'another' }));
    await mailer.loop.idle();
    expect(transport.accepted).toHaveLength(1);
    await clock.advance(LIFE_MS);
    await mailer.loop.idle();
    expect(await mails.count({})).toBe(0);
  });

  it('forgets what was sent on whole minutes, many at once', async () => {
    const { mailer, mails, start, aMail, clock } = await scene(make);
    start();
    for (let n = 1; n <= 10; n += 1) await mailer.send(aMail(`mail-${n}`, { dropAt: new Date(clock.now().getTime() + LIFE_MS + n) }));
    await mailer.loop.idle();
    const minuteAfter = new Date(clock.now().getTime() + LIFE_MS + 60 * SECOND_MS);
    expect(new Set((await mails.find({})).map(({ dueAt }) => dueAt.getTime()))).toEqual(new Set([minuteAfter.getTime()]));
  });

  it('tries again later each time, and drops the mail when it is over', async () => {
    const { mailer, mails, start, aMail, transport, clock } = await scene(make);
    const times: number[] = [];
    const startMs = clock.now().getTime();
    const never = () => {
      times.push((clock.now().getTime() - startMs) / SECOND_MS);
      transport.answers.push(never);
      return Promise.reject(new MailFailure('unreachable'));
    };
    transport.answers.push(never);
    start();
    await mailer.send(aMail());
    await mailer.loop.idle();
    for (let second = 0; second < 600; second += 1) {
      await clock.advance(SECOND_MS);
      await mailer.loop.idle();
    }
    expect(times).toEqual([0, 5, 15, 35, 75, 135, 195, 255, 315, 375, 435, 495, 555]);
    expect(transport.accepted).toEqual([]);
    expect(await mails.count({})).toBe(0);
  });

  it('drops at once what was refused for good', async () => {
    const { mailer, mails, start, aMail, transport, clock } = await scene(make);
    transport.answers.push(failing('refused', 550));
    start();
    await mailer.send(aMail());
    await mailer.loop.idle();
    await clock.advance(60 * SECOND_MS);
    await mailer.loop.idle();
    expect(transport.accepted).toEqual([]);
    expect(await mails.find({})).toMatchObject([{ sealed: null, queuedAt: null }]);
  });

  it('two replicas share the mails, and each is sent once', async () => {
    const { mailer, shared, start, aMail, transport } = await scene(make);
    const { mailer: other } = await replica(shared, 'two');
    const ids = Array.from({ length: 30 }, (_, i) => `mail-${i}`);
    await Promise.all(ids.map((id, i) => (i % 2 ? mailer : other).send(aMail(id))));
    start();
    other.loop.start(contextOf(shared));
    loops.push(other.loop);
    await Promise.all([mailer.loop.idle(), other.loop.idle()]);
    expect(transport.accepted.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
  });
};

describe('the mailer', () => {
  onEveryEngine(contract);

  it('stores address, subject and texts sealed', async () => {
    const { mailer, mails, aMail } = await scene();
    await mailer.send(aMail());
    expect(JSON.stringify(await mails.find({}))).not.toMatch(/ada|example|code|123456/i);
  });

  it('sends again after the lease of a process that died before it could erase the mail', async () => {
    const { mailer, mails, shared, start, aMail, transport, clock } = await scene();
    await mailer.send(aMail());
    const gone = () => new Promise<never>(() => undefined);
    const findOneAndUpdate: typeof mails.findOneAndUpdate = (...args) =>
      transport.accepted.length > 0 ? gone() : mails.findOneAndUpdate(...args);
    const dead = { ...mails, updateOne: gone, findOneAndUpdate };
    // One collection is asked for.
    const { mailer: dying } = await replica({ ...shared, database: { ...shared.database, collection: () => dead as never } }, 'dies');
    dying.loop.start(contextOf(shared));
    while (transport.accepted.length === 0) await clock.advance(0);
    start();
    await clock.advance(29 * SECOND_MS);
    await mailer.loop.idle();
    expect(transport.accepted).toHaveLength(1);
    await clock.advance(SECOND_MS);
    await mailer.loop.idle();
    expect(transport.accepted).toHaveLength(2);
    expect(await mails.find({})).toMatchObject([{ sealed: null }]);
  });

  it('counts what it does and how much waits', async () => {
    const { mailer, metric, start, aMail, transport, clock } = await scene();
    transport.answers.push(failing('deferred', 451), failing('refused', 550));
    await mailer.send(aMail('deferred'));
    await clock.advance(7 * SECOND_MS);
    await mailer.send(aMail('refused'));
    await mailer.send(aMail('late', { dropAt: clock.now() }));
    expect(await metric('mails_queued')).toMatchObject([{ value: 3 }]);
    expect(await metric('mails_oldest_queued_seconds')).toMatchObject([{ value: 7 }]);
    start();
    await mailer.loop.idle();
    await clock.advance(5 * SECOND_MS);
    await mailer.loop.idle();
    expect(await metric('mails_sent_total')).toMatchObject([{ value: 1 }]);
    expect(await metric('mail_failures_total')).toMatchObject([
      { labels: { reason: 'deferred' }, value: 1 },
      { labels: { reason: 'refused' }, value: 1 },
    ]);
    expect((await metric('mails_dropped_total')).map(({ labels, value }) => [labels['reason'], value]).toSorted()).toEqual([
      ['late', 1],
      ['refused', 1],
    ]);
    expect(await metric('mails_queued')).toMatchObject([{ value: 0 }]);
    expect(await metric('mails_oldest_queued_seconds')).toMatchObject([{ value: 0 }]);
  });

  it('tells the log what became of a mail, and neither its address nor its text', async () => {
    const { mailer, start, aMail, transport, clock, captured } = await scene();
    transport.answers.push(failing('deferred', 451), failing('refused', 550));
    start();
    await mailer.send(aMail('mail-1'));
    await mailer.send(aMail('mail-2', { to: 'two@example.test, three@example.test' }));
    await mailer.send(aMail('mail-3'));
    await mailer.loop.idle();
    await clock.advance(LIFE_MS);
    await mailer.loop.idle();
    expect(captured.lines().map(({ message, mail, reason }) => [message, mail, reason])).toEqual(
      expect.arrayContaining([
        ['mail not accepted, trying again', 'mail-1', 'deferred'],
        ['mail sent', 'mail-1', undefined],
        ['mail dropped', 'mail-2', 'refused'],
        ['mail dropped', 'mail-3', 'refused'],
      ]),
    );
    expect(captured.text()).not.toMatch(/example|code|123456/i);
  });

  it('does not fill the log while the mail server is away', async () => {
    const { mailer, start, aMail, transport, captured } = await scene();
    for (let n = 0; n < 100; n += 1) transport.answers.push(failing('unreachable'));
    start();
    for (let n = 0; n < 100; n += 1) await mailer.send(aMail(`mail-${n}`));
    await mailer.loop.idle();
    expect(captured.lines().map(({ failures }) => failures)).toEqual([1, 2, 4, 8, 16, 32, 64]);
    await mailer.send(aMail('mail-100'));
    await mailer.loop.idle();
    expect(captured.lines().at(-1)).toMatchObject({ message: 'mail sent', failures: 100 });
  });

  it.each([
    ['a line break', 'ada@example.test\r\nBcc: eve@example.test'],
    ['a second address', 'ada@example.test,eve@example.test'],
    ['angle brackets', 'Eve <eve@example.test>'],
    ['a quoted local part', '"ada eve"@example.test'],
    ['a comment', 'ada(eve)@example.test'],
    ['a group', 'all:ada@example.test;'],
    ['text that turns around', 'ada\u202e@example.test'],
    ['a character without width', 'ada\u200b@example.test'],
    ['two signs', 'ada@eve@example.test'],
    ['none', 'ada'],
    ['more than a mail server takes', `${'a'.repeat(243)}@example.test`],
  ])('gives the transport no address with %s', async (_what, to) => {
    const { mailer, metric, start, aMail, transport } = await scene();
    start();
    await mailer.send(aMail('mail-1', { to }));
    await mailer.loop.idle();
    expect(transport.accepted).toEqual([]);
    expect(await metric('mail_failures_total')).toMatchObject([{ labels: { reason: 'address' }, value: 1 }]);
  });

  it('makes the subject one line of limited length', async () => {
    const { mailer, start, aMail, transport } = await scene();
    start();
    await mailer.send(aMail('mail-1', { subject: `A\r\nBcc: eve@example.test\u202e\u2028x${'y'.repeat(1000)}` }));
    await mailer.loop.idle();
    expect(transport.accepted[0]?.subject).toMatch(/^A Bcc: eve@example\.test xy+$/);
    expect(transport.accepted[0]?.subject).toHaveLength(200);
  });

  it('leaves a mail that it cannot unseal to a replica with the key, and holds up no other', async () => {
    const { mailer, shared, start, aMail, transport, metric, clock } = await scene();
    const foreign = await replica(shared, 'foreign', [{ id: 'k2', key: Buffer.alloc(32, 'other') }]);
    for (let n = 0; n < 40; n += 1) await foreign.mailer.send(aMail(`foreign-${n}`));
    start();
    await mailer.send(aMail('own'));
    await mailer.loop.idle();
    expect(transport.accepted.map(({ id }) => id)).toEqual(['own']);
    expect(await metric('mail_failures_total')).toMatchObject([{ labels: { reason: 'unreadable' }, value: 40 }]);
    foreign.mailer.loop.start(contextOf(shared));
    loops.push(foreign.mailer.loop);
    await clock.advance(5 * SECOND_MS);
    await foreign.mailer.loop.idle();
    await clock.advance(60 * SECOND_MS);
    await foreign.mailer.loop.idle();
    expect(transport.accepted.length).toBeGreaterThan(1);
  });

  it('a mail that was cut off is not counted as tried and goes out after the next start', async () => {
    const { mailer, mails, shared, start, aMail, transport } = await scene();
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
    const { promise: cut, reject } = Promise.withResolvers<void>();
    transport.answers.push(() => {
      begin();
      return cut;
    });
    start();
    await mailer.send(aMail());
    await begun;
    const stopping = mailer.loop.stop();
    mailer.loop.cut?.();
    reject(new MailFailure('other'));
    await stopping;
    expect(await mails.find({})).toMatchObject([{ tries: 0, leaseToken: null, dueAt: shared.clock.now() }]);
    const { mailer: next } = await replica(shared, 'two');
    next.loop.start(contextOf(shared));
    loops.push(next.loop);
    await next.loop.idle();
    expect(transport.accepted).toHaveLength(1);
  });
});
