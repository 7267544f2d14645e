import { setImmediate } from 'node:timers/promises';
import type { Clock } from '@bubbles/kernel/clock.ts';
import { cronTimes } from './cron-times.ts';
import type { Scheduler } from './scheduler.ts';

/** Waits through the clock, as a look for work and not as work that is due: however many times were passed at once, the work runs once. */
export const clockScheduler = (clock: Clock): Scheduler => ({
  schedule({ cron, tick }) {
    const next = cronTimes(cron);
    const ending = new AbortController();
    let running: Promise<void> | null = null;

    const turn = async () => {
      while (!ending.signal.aborted) {
        const at = next(clock.now());
        await clock.sleepUntil(at, 'poll', ending.signal);
        if (ending.signal.aborted) return;
        running = tick(at);
        await running;
        running = null;
      }
    };
    const ended = turn();

    return {
      async idle() {
        // Who was woken has begun its run after a turn of the event loop.
        await setImmediate();
        if (running) await running;
      },
      async stop() {
        ending.abort();
        await ended;
      },
    };
  },
});
