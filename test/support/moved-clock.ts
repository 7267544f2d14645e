import { type Clock, systemClock } from '@bubbles/kernel/clock.ts';

/** The machine's clock, put forward by a number of milliseconds. A sleep is not woken when that changes. */
export const movedClock = (aheadMs: () => number): Clock => {
  const machine = systemClock();
  const shifted = (at: Date, ms: number) => new Date(at.getTime() + ms);
  return {
    now: () => shifted(machine.now(), aheadMs()),
    monotonic: machine.monotonic,
    sleepUntil: (at, kind, signal) => machine.sleepUntil(shifted(at, -aheadMs()), kind, signal),
  };
};
