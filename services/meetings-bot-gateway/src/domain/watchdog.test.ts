import { describe, expect, it } from '@jest/globals';
import { later, NOON } from '../../test/builders.ts';
import { mayStillDispatch, mayStillWatch, nextLook, overdueReason, retryMs } from './watchdog.ts';

const MINUTE = 60;

describe('watchdogs', () => {
  it.each([
    ['dispatched', 15 * MINUTE, 'notetaker_unavailable'],
    ['joining', 20 * MINUTE, 'notetaker_error'],
    ['in_waiting_room', 35 * MINUTE, 'waiting_room_timeout'],
    ['in_call', 65 * MINUTE, 'notetaker_error'],
    ['recording', 8 * 60 * MINUTE, 'notetaker_error'],
  ] as const)('[MEET-10] end a join that is %s for too long', (status, seconds, reason) => {
    const join = { status, updatedAt: NOON };
    expect(overdueReason(join, later(seconds - 1))).toBeNull();
    expect(overdueReason(join, later(seconds))).toBe(reason);
  });

  it('ask its provider after a silence, spread by a fifth, and never after its end', () => {
    const join = { status: 'joining', updatedAt: NOON } as const;
    expect([0, 1].map((jitter) => nextLook(join, NOON, jitter))).toEqual([later(MINUTE), later(72)]);
    expect(nextLook(join, later(20 * MINUTE - 5), 0)).toEqual(later(20 * MINUTE));
    expect(nextLook(join, later(30 * MINUTE), 0)).toEqual(later(30 * MINUTE));
  });

  it('let a notetaker that must leave be told so for eight hours, and one in a call until its end', () => {
    const may = (status: 'fatal' | 'in_call', minutes: number) => mayStillWatch({ status, updatedAt: NOON }, later(minutes * MINUTE));
    expect([may('fatal', 479), may('fatal', 480), may('in_call', 64), may('in_call', 65)]).toEqual([true, false, true, false]);
  });

  it('leave a join alone that is over', () => {
    expect(overdueReason({ status: 'done', updatedAt: NOON }, later(1e6))).toBeNull();
  });
});

describe('tries', () => {
  it('wait longer each time, and as long as the provider says', () => {
    expect([0, 1, 2, 20].map((tries) => retryMs(tries, null))).toEqual([5000, 10_000, 20_000, 300_000]);
    expect(retryMs(0, 90)).toBe(90_000);
  });

  it('[MEET-10] of a dispatch end after ten minutes', () => {
    expect(mayStillDispatch({ createdAt: NOON }, later(599))).toBe(true);
    expect(mayStillDispatch({ createdAt: NOON }, later(600))).toBe(false);
  });
});
