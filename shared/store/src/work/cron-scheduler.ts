import type { Log } from '@bubbles/kernel/log.ts';
import { schedule, validate } from 'node-cron';
import { minuteOf, type Scheduler } from './scheduler.ts';

const textOf = (message: string | Error) => (typeof message === 'string' ? message : message.message);

/** Real time, in UTC, so that no change of the clocks skips or repeats a run. */
export const cronScheduler = (log: Log): Scheduler => ({
  schedule({ name, cron, tick }) {
    if (!validate(cron)) throw new Error(`The job ${name} has a wrong cron expression: '${cron}'.`);
    let running: Promise<void> = Promise.resolve();
    const logger = {
      debug: (message: string | Error) => log.debug(textOf(message), { job: name }),
      info: (message: string) => log.info(message, { job: name }),
      warn: (message: string) => log.warn(message, { job: name }),
      error: (message: string | Error) => log.error(textOf(message), { job: name }),
    };
    const run = ({ date }: { readonly date: Date }) => {
      running = tick(minuteOf(date));
      return running;
    };
    const task = schedule(cron, run, { name, timezone: 'UTC', noOverlap: true, logger });
    return {
      idle: () => running,
      async stop() {
        await task.destroy();
        await running;
      },
    };
  },
});
