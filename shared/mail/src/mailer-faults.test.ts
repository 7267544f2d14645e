import type { Loop } from '@bubbles/kernel/loop.ts';
import { createSeal } from '@bubbles/kernel/seal.ts';
import { currentTraceparent, runInSpan, startSpan } from '@bubbles/kernel/trace.ts';
import { type Collection, type Database, storeUnavailable } from '@bubbles/store/collection.ts';
import { type CrashPoints, crashPoints, faultPoints } from '@bubbles/testing/crash-points.ts';
import { type FakeClock, fakeClock } from '@bubbles/testing/fake-clock.ts';
import { fakeIds } from '@bubbles/testing/fake-ids.ts';
import { type FakeMailTransport, fakeMailTransport } from '@bubbles/testing/fake-mail-transport.ts';
import { failEverywhere } from '@bubbles/testing/faltering-world.ts';
import { SILENT_LOG } from '@bubbles/testing/http.ts';
import { memoryDatabase } from '@bubbles/testing/memory-database.ts';
import { afterEach, describe, expect, it } from '@jest/globals';
import { Registry } from 'prom-client';
import { openedIn } from '../test/engines.ts';
import { createMailer, type MailDoc, openMails } from './mailer.ts';
import { MailFailure } from './transport.ts';

const SECOND_MS = 1000;
const KEYS = [{ id: 'k1', key: Buffer.alloc(32, 'key') }];
const STEPS = ['insert', 'findOne', 'findOneAndUpdate', 'updateOne', 'deleteOne'] as const;

const loops: Loop[] = [];
afterEach(async () => {
  for (const loop of loops.splice(0)) await loop.stop();
});

interface Scene {
  readonly database: Database;
  readonly clock: FakeClock;
  readonly transport: FakeMailTransport;
}

const scene = (): Scene => ({ database: memoryDatabase(), clock: fakeClock(), transport: fakeMailTransport() });

/** A process whose store has these points. */
const started = async ({ database, clock, transport }: Scene, name: string, points: CrashPoints | null = null) => {
  const ids = fakeIds(name);
  const kept = await openedIn(database, openMails);
  const mails: Collection<MailDoc> = points === null ? kept : points.watch(kept, STEPS);
  const seal = createSeal(KEYS, ids.bytes);
  const mailer = createMailer({ mails, transport, seal, clock, ids, log: SILENT_LOG, registry: new Registry() });
  mailer.loop.start({ clock, log: SILENT_LOG });
  loops.push(mailer.loop);
  return { mailer, kept };
};

const aMail = ({ clock }: Scene) => ({
  id: 'mail-1',
  to: 'ada@example.test',
  subject: 'Your code',
  text: 'Your code is 123456.',
  html: '<p>Your code is 123456.</p>',
  dropAt: new Date(clock.now().getTime() + 600 * SECOND_MS),
});

const pass = async ({ clock }: Scene, loop: Loop, seconds: number): Promise<void> => {
  for (let second = 0; second < seconds; second += 1) {
    await clock.advance(SECOND_MS);
    await loop.idle();
  }
};

describe('a mail', () => {
  it('is sent in the trace of the request that asked for it, also later and by another process', async () => {
    const world = scene();
    const traces: (string | undefined)[] = [];
    const seen = (end: () => Promise<void>) => () => {
      traces.push(currentTraceparent()?.slice(3, 35));
      return end();
    };
    world.transport.answers.push(
      seen(() => Promise.reject(new MailFailure('deferred', 451))),
      seen(() => Promise.resolve()),
    );
    const { mailer } = await started(world, 'one');
    const request = startSpan();
    await runInSpan(request, () => mailer.send(aMail(world)));
    await mailer.loop.idle();
    await mailer.loop.stop();
    const next = await started(world, 'two');
    await pass(world, next.mailer.loop, 10);
    expect(traces).toEqual([request.traceId, request.traceId]);
  });

  it('goes out and is erased whatever step of the store fails once', async () => {
    const faults = await failEverywhere(async (step) => {
      const world = scene();
      // Refused until later at first, so that a retry is among the steps.
      world.transport.answers.push(() => Promise.reject(new MailFailure('deferred', 451)));
      const points = faultPoints(step, () => storeUnavailable(new Error('away')));
      const { mailer, kept } = await started(world, 'one', points);
      await mailer.send(aMail(world)).catch(() => mailer.send(aMail(world)));
      await pass(world, mailer.loop, 60);
      // Once more when the store did not say that it was erased.
      expect([1, 2]).toContain(world.transport.accepted.length);
      expect(await kept.find({})).toMatchObject([{ sealed: null, queuedAt: null }]);
      await mailer.loop.stop();
      return points.steps() >= step;
    });
    expect(faults).toBeGreaterThan(7);
  });

  it('that was stored is lost with no process, wherever that one dies', async () => {
    const deaths = await failEverywhere(async (step) => {
      const world = scene();
      const points = crashPoints(step);
      const { mailer } = await started(world, 'dies', points);
      const isStored = await mailer.send(aMail(world)).then(
        () => true,
        () => false,
      );
      for (let turns = 0; turns < 20; turns += 1) await world.clock.advance(0);
      const hasDied = points.steps() >= step;
      const { mailer: next, kept } = await started(world, 'next');
      await pass(world, next.loop, 60);
      expect(world.transport.accepted.length).toBeLessThanOrEqual(2);
      if (isStored) {
        expect(world.transport.accepted.length).toBeGreaterThanOrEqual(1);
        expect(await kept.find({})).toMatchObject([{ sealed: null }]);
      }
      return hasDied;
    });
    expect(deaths).toBeGreaterThan(5);
  });
});
