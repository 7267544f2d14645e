import { fakeClock } from '@bubbles/testing/fake-clock.ts';
import { memoryLog } from '@bubbles/testing/memory-log.ts';
import { describe, expect, it } from '@jest/globals';
import { aJoin, aNotetaker, joinAt, later, NOON } from '../../test/builders.ts';
import { joinAdvanced } from '../adapters/bus/events.ts';
import type { Join } from '../domain/join.ts';
import { type JoinStore, type Notetaker, NotetakerError } from '../ports.ts';
import { dispatchJoin, letLeave, watchJoin } from './work.ts';

/** One join, claimed. */
const scene = (claimed: Join, notetaker: Partial<Notetaker>, at = NOON) => {
  let stored: Join | null = claimed;
  const joins: Pick<JoinStore, 'byRefs' | 'update'> = {
    byRefs: () => Promise.resolve([claimed]),
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
    leave: () => letLeave(ports)(claimed),
    logged: () => ports.log.lines.map(({ message }) => message),
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
    expect(here.stored()).toMatchObject({ status: 'fatal', fatalReason: 'notetaker_unavailable', work: 'leave' });
  });

  it('[MEET-10] ends at once when the provider refuses for good', async () => {
    const here = scene(claimed(), { dispatch: failing(new NotetakerError('permanent', 'meeting_link_invalid')) });
    await here.dispatch();
    expect(here.stored()).toMatchObject({ status: 'fatal', fatalReason: 'meeting_link_invalid', work: 'refund' });
  });

  it('[MEET-10] that is refused after an answer was lost may have sent somebody', async () => {
    const here = scene(claimed({ tries: 1 }), { dispatch: failing(new NotetakerError('permanent', 'unauthorized')) });
    await here.dispatch();
    expect(here.stored()).toMatchObject({ status: 'fatal', fatalReason: 'unauthorized', work: 'leave' });
  });

  it('sends nobody for a join that ended when its process was gone', async () => {
    const here = scene(claimed({ status: 'fatal', fatalReason: 'cancelled', isAsked: true }), {});
    await here.dispatch();
    expect(here.stored()).toMatchObject({ status: 'fatal', fatalReason: 'cancelled', work: 'leave' });
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
    expect(here.stored()).toMatchObject({ status: 'fatal', fatalReason: 'waiting_room_timeout', work: 'leave' });
  });

  it('[MEET-10] ends one that recorded for eight hours as done, and lets the notetaker leave before it is captured', async () => {
    const snapshot = () => Promise.resolve({ status: 'recording', reason: null, recordedEver: true } as const);
    const here = scene(watched('recording'), { snapshot }, later(8 * 3600));
    await here.watch();
    expect(here.stored()).toMatchObject({ status: 'done', fatalReason: null, work: 'leave' });
  });

  it('[MEET-10] ends one whose notetaker hangs while it leaves', async () => {
    const snapshot = () => Promise.resolve({ status: 'in_call', reason: null, recordedEver: false, isLeaving: true } as const);
    const here = scene({ ...watched('in_call'), leavingSince: later(60) }, { snapshot }, later(660));
    await here.watch();
    expect(here.stored()).toMatchObject({ status: 'fatal', fatalReason: 'notetaker_error', work: 'leave' });
  });

  it('[MEET-10] ends it also when its provider stays away', async () => {
    const here = scene(watched('in_call'), { snapshot: failing(new Error('away')) }, later(65 * 60));
    await here.watch();
    expect(here.stored()).toMatchObject({ status: 'fatal', fatalReason: 'notetaker_unavailable' });
  });

  it('ends in time also when the clock was set back', async () => {
    const away = () => Promise.reject(new Error('away'));
    const ahead = { ...watched('joining'), updatedAt: later(7200) };
    const here = scene(ahead, { snapshot: away });
    await here.watch();
    expect(here.stored()).toMatchObject({ status: 'joining', updatedAt: NOON });
  });
});

describe('a notetaker that must leave', () => {
  const over = { ...joinAt('fatal'), work: 'leave', leaseToken: 'lease' } as const;
  const lostOne = { ...over, providerRef: null, isAsked: true };

  it('is told so, again after a fault', async () => {
    const away = scene(over, { leave: failing(new Error('away')) });
    await away.leave();
    expect(away.stored()).toMatchObject({ work: 'leave', dueAt: later(5), tries: 1 });
    const there = scene(over, { leave: () => Promise.resolve() });
    await there.leave();
    expect(there.stored()).toMatchObject({ status: 'fatal', work: 'refund' });
  });

  it('is looked for when its dispatch was never answered, before places are given back', async () => {
    const told: string[] = [];
    const leave = (ref: string) => Promise.resolve(void told.push(ref));
    const here = scene(lostOne, { find: () => Promise.resolve('run'), leave });
    await here.leave();
    expect(told).toEqual(['run']);
    expect(here.stored()).toMatchObject({ work: 'refund', providerRef: null });
  });

  it('is looked for once more when none was found at once', async () => {
    const none = () => Promise.resolve(null);
    const soon = scene(lostOne, { find: none });
    await soon.leave();
    expect(soon.stored()).toMatchObject({ work: 'leave', dueAt: later(60), leaseToken: null });
    const late = scene(lostOne, { find: none }, later(60));
    await late.leave();
    expect(late.stored()).toMatchObject({ work: 'refund' });
  });

  it.each([
    ['the provider stays away for eight hours', over, new Error('away'), 8 * 3600],
    ['the provider refuses', over, new NotetakerError('permanent', 'unauthorized'), 0],
  ])('is given up when %s, which is logged', async (_, join, error, seconds) => {
    const here = scene(join, { leave: failing(error) }, later(seconds));
    await here.leave();
    expect(here.stored()).toMatchObject({ work: 'refund' });
    expect(here.logged()).toContain('notetaker may still be in the call');
  });
});
