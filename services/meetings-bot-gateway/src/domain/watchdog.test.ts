import { describe, expect, it } from '@jest/globals';
import { later, NOON } from '../../test/builders.ts';
import type { Join, JoinStatus } from './join.ts';
import { mayStillDispatch, mayStillLeave, nextLook, nextSearch, overdueReason, retryMs } from './watchdog.ts';

const MINUTE = 60;
const watched = (status: JoinStatus, signs: Partial<Pick<Join, 'isDenied' | 'leavingSince'>> = {}) => ({
  status,
  updatedAt: NOON,
  isDenied: false,
  leavingSince: null,
  ...signs,
});

describe('watchdogs', () => {
  it.each([
    ['dispatched', 15 * MINUTE, 'notetaker_unavailable'],
    ['joining', 20 * MINUTE, 'notetaker_error'],
    ['in_waiting_room', 35 * MINUTE, 'waiting_room_timeout'],
    ['in_call', 65 * MINUTE, 'notetaker_error'],
    ['recording', 8 * 60 * MINUTE, 'notetaker_error'],
  ] as const)('[MEET-10] end a join that is %s for too long', (status, seconds, reason) => {
    const join = watched(status);
    expect(overdueReason(join, later(seconds - 1))).toBeNull();
    expect(overdueReason(join, later(seconds))).toBe(reason);
  });

  it('ask its provider after a silence, spread by a fifth, and never after its end', () => {
    const join = watched('joining');
    expect([0, 1].map((jitter) => nextLook(join, NOON, jitter))).toEqual([later(MINUTE), later(72)]);
    expect(nextLook(join, later(20 * MINUTE - 5), 0)).toEqual(later(20 * MINUTE));
    expect(nextLook(join, later(30 * MINUTE), 0)).toEqual(later(30 * MINUTE));
  });

  it('let a notetaker that must leave be told so for eight hours, however the clock is set', () => {
    const may = (minutes: number, tries = 0) => mayStillLeave({ updatedAt: NOON, tries }, later(minutes * MINUTE));
    expect([may(479), may(480), may(-600), may(-600, 110)]).toEqual([true, false, true, false]);
  });

  it('look again after a minute for a notetaker whose dispatch was just lost, and then no more', () => {
    const next = (seconds: number, tries = 0) => nextSearch({ updatedAt: NOON, tries }, later(seconds));
    expect([next(0), next(59), next(60), next(-3600, 5)]).toEqual([later(60), later(119), null, null]);
  });

  it('name the host as the reason who lets nobody record', () => {
    expect(overdueReason(watched('in_call', { isDenied: true }), later(65 * MINUTE))).toBe('recording_permission_denied');
    expect(overdueReason(watched('joining', { isDenied: true }), later(20 * MINUTE))).toBe('notetaker_error');
  });

  it('end a join whose notetaker hangs while it leaves for ten minutes, and look at it each minute until then', () => {
    const leaving = watched('recording', { leavingSince: later(60) });
    expect(nextLook(leaving, later(60), 0)).toEqual(later(120));
    expect([659, 660].map((seconds) => overdueReason(leaving, later(seconds)))).toEqual([null, 'notetaker_error']);
    expect(overdueReason(watched('in_waiting_room', { leavingSince: later(34 * MINUTE) }), later(35 * MINUTE))).toBe('notetaker_error');
  });

  it('leave a join alone that is over', () => {
    expect(overdueReason(watched('done'), later(1e6))).toBeNull();
  });
});

describe('tries', () => {
  it('wait longer each time, and as long as the provider says', () => {
    expect([0, 1, 2, 20].map((tries) => retryMs(tries, null))).toEqual([5000, 10_000, 20_000, 300_000]);
    expect([retryMs(0, 90), retryMs(0, 86_400)]).toEqual([90_000, 600_000]);
  });

  it('[MEET-10] of a dispatch end after ten minutes', () => {
    const may = (seconds: number, tries = 0) => mayStillDispatch({ createdAt: NOON, tries }, later(seconds));
    expect([may(599), may(600), may(-3600, 7), may(-3600, 8)]).toEqual([true, false, true, false]);
  });
});
