import { fakeClock } from '@bubbles/testing/fake-clock.ts';
import { memoryLog } from '@bubbles/testing/memory-log.ts';
import { describe, expect, it } from '@jest/globals';
import { aJoin, joinAt, later, NOON } from '../../test/builders.ts';
import { joinAdvanced } from '../adapters/bus/events.ts';
import type { Join } from '../domain/join.ts';
import { type JoinStore, type Notetaker, NotetakerError } from '../ports.ts';
import { dispatchJoin, watchJoin } from './work.ts';

const notUsed = () => Promise.reject(new Error('is not called here'));

/** A provider whose every call answers as it is told. */
const aNotetaker = (fields: Partial<Notetaker>): Notetaker => ({
  name: 'simulator',
  dispatch: notUsed,
  find: notUsed,
  snapshot: notUsed,
  leave: notUsed,
  recording: notUsed,
  transcript: notUsed,
  verify: () => null,
  ...fields,
});

/** One join, claimed. */
const scene = (claimed: Join, notetaker: Partial<Notetaker>, at = NOON) => {
  let stored: Join | null = claimed;
  const joins: Pick<JoinStore, 'update'> = {
    update(_id, change) {
      stored = (stored && change(stored)?.state) ?? stored;
      return Promise.resolve(stored);
    },
  };
  const provider = aNotetaker(notetaker);
  const ports = {
    joins: joins as JoinStore, // The work calls nothing else of the store.
    notetakers: { named: () => provider, forPlatform: () => provider },
    joinAdvanced,
    seal: { seal: () => 'sealed', unseal: () => Buffer.from('https://meet.google.com/abc-defg-hij') },
    clock: fakeClock(at),
    log: memoryLog(),
    botName: 'Notetaker',
    jitter: () => 0,
    wakeWatch: () => undefined,
    wakeCapture: () => undefined,
  };
  return {
    dispatch: () => dispatchJoin(ports)(claimed),
    watch: () => watchJoin(ports)(claimed),
    stored: () => stored,
    steal: () => {
      stored = { ...claimed, leaseToken: 'another' };
    },
  };
};
const claimed = (fields: Partial<Join> = {}) => aJoin({ leaseToken: 'lease', ...fields });
const failing = (error: Error) => () => Promise.reject(error);

describe('a dispatch', () => {
  it('keeps what the provider calls the run, and looks at it later', async () => {
    const here = scene(claimed(), { dispatch: () => Promise.resolve({ ref: 'run', adopted: false }) });
    await here.dispatch();
    expect(here.stored()).toMatchObject({ providerRef: 'run', work: 'watch', dueAt: later(180), leaseToken: null, status: 'dispatched' });
  });

  it.each([
    ['a provider that is away', new Error('socket hang up'), 5],
    ['a provider that asks for patience', new NotetakerError('transient', 'rate_limited', { retryAfterSeconds: 90 }), 90],
  ])('[MEET-10] is tried again after %s', async (_, error, seconds) => {
    const here = scene(claimed(), { dispatch: failing(error) });
    await here.dispatch();
    expect(here.stored()).toMatchObject({ status: 'dispatched', work: 'dispatch', dueAt: later(seconds), leaseToken: null, tries: 1 });
  });

  it('[MEET-10] ends after ten minutes without a provider', async () => {
    const here = scene(claimed({ tries: 9 }), { dispatch: failing(new Error('away')) }, later(600));
    await here.dispatch();
    expect(here.stored()).toMatchObject({ status: 'fatal', fatalReason: 'notetaker_unavailable', work: 'refund' });
  });

  it('[MEET-10] ends at once when the provider refuses for good', async () => {
    const here = scene(claimed(), { dispatch: failing(new NotetakerError('permanent', 'meeting_link_invalid')) });
    await here.dispatch();
    expect(here.stored()).toMatchObject({ status: 'fatal', fatalReason: 'meeting_link_invalid', work: 'refund' });
  });

  it('whose claim was lost writes nothing', async () => {
    const here = scene(claimed(), { dispatch: () => Promise.resolve({ ref: 'run', adopted: false }) });
    here.steal();
    await here.dispatch();
    expect(here.stored()).toMatchObject({ providerRef: null, leaseToken: 'another' });
  });
});

describe('a look at a silent join', () => {
  const watched = (status: Join['status']) => ({ ...joinAt(status), leaseToken: 'lease' });

  it('hears of what happened meanwhile', async () => {
    const snapshot = () => Promise.resolve({ status: 'in_call', reason: null, recordedEver: false } as const);
    const here = scene(watched('joining'), { snapshot });
    await here.watch();
    expect(here.stored()).toMatchObject({ status: 'in_call', work: 'watch', dueAt: later(120), leaseToken: null });
  });

  it('[MEET-10] ends it when its time is over, and lets the notetaker leave', async () => {
    const here = scene(watched('in_waiting_room'), { snapshot: () => Promise.resolve(null) }, later(35 * 60));
    await here.watch();
    expect(here.stored()).toMatchObject({ status: 'fatal', fatalReason: 'waiting_room_timeout', work: 'watch' });
  });

  it('[MEET-10] ends one that recorded for eight hours as done, and lets the notetaker leave before it is captured', async () => {
    const snapshot = () => Promise.resolve({ status: 'recording', reason: null, recordedEver: true } as const);
    const here = scene(watched('recording'), { snapshot }, later(8 * 3600));
    await here.watch();
    expect(here.stored()).toMatchObject({ status: 'done', fatalReason: null, work: 'watch' });
  });

  it('[MEET-10] ends one whose notetaker hangs while it leaves', async () => {
    const snapshot = () => Promise.resolve({ status: 'in_call', reason: null, recordedEver: false, isLeaving: true } as const);
    const here = scene({ ...watched('in_call'), leavingSince: later(60) }, { snapshot }, later(660));
    await here.watch();
    expect(here.stored()).toMatchObject({ status: 'fatal', fatalReason: 'notetaker_error', work: 'watch' });
  });

  it('[MEET-10] ends it also when its provider stays away', async () => {
    const here = scene(watched('in_call'), { snapshot: failing(new Error('away')) }, later(65 * 60));
    await here.watch();
    expect(here.stored()).toMatchObject({ status: 'fatal', fatalReason: 'notetaker_unavailable' });
  });

  it('lets the notetaker of a join leave that is over, again after a fault', async () => {
    const over = { ...joinAt('fatal'), work: 'watch', leaseToken: 'lease' } as const;
    const away = scene(over, { leave: failing(new Error('away')) });
    await away.watch();
    expect(away.stored()).toMatchObject({ work: 'watch', dueAt: later(5), tries: 1 });
    const there = scene(over, { leave: () => Promise.resolve() });
    await there.watch();
    expect(there.stored()).toMatchObject({ status: 'fatal', work: 'refund' });
  });
});
