import { fakeClock } from '@bubbles/testing/fake-clock.ts';
import { memoryLog } from '@bubbles/testing/memory-log.ts';
import { describe, expect, it } from '@jest/globals';
import { startLoop } from './loop.ts';

type Options = Parameters<typeof startLoop>[0];

const start = (run: Options['run'], overrides: Partial<Options> = {}) => {
  const clock = fakeClock();
  const log = memoryLog();
  const loop = startLoop({ name: 'worker', clock, log, pollMs: 1_000, jitter: () => 1, run, ...overrides });
  return { clock, log, loop };
};

/** A run that ends when it is told to. */
const heldRun = () => {
  const begun: (() => void)[] = [];
  const run = () => {
    const { promise, resolve } = Promise.withResolvers<null>();
    begun.push(() => resolve(null));
    return promise;
  };
  const began = async (count: number) => {
    while (begun.length < count) await Promise.resolve();
    return begun[count - 1];
  };
  return { begun, run, began };
};

describe('startLoop', () => {
  it('tells of each run that failed, by its name', async () => {
    const failed: string[] = [];
    let runs = 0;
    const run = () => {
      runs += 1;
      return runs < 3 ? Promise.reject(new Error('away')) : Promise.resolve(null);
    };
    const { clock, loop } = start(run, { onFailure: (name) => failed.push(name) });
    for (let second = 0; second < 10; second += 1) await clock.advance(1_000);
    expect(runs).toBeGreaterThan(3);
    expect(failed).toEqual(['worker', 'worker']);
    await loop.stop();
  });

  it('runs at once, then on every poll', async () => {
    let runs = 0;
    const { clock, loop } = start(() => {
      runs += 1;
      return Promise.resolve(null);
    });
    await loop.idle();
    expect(runs).toBe(1);
    await clock.advance(999);
    expect(runs).toBe(1);
    await clock.advance(1);
    expect(runs).toBe(2);
    await loop.stop();
  });

  it('runs when the next piece falls due, although the poll is sooner', async () => {
    const seen: number[] = [];
    const { clock, loop } = start(
      () => {
        seen.push(clock.now().getTime());
        return Promise.resolve(seen.length === 1 ? new Date(clock.now().getTime() + 5_000) : null);
      },
      { pollMs: 60_000 },
    );
    await loop.idle();
    const begin = clock.now().getTime();
    await clock.advance(10_000);
    expect(seen).toEqual([begin, begin + 5_000]);
    await loop.stop();
  });

  it('pokes during a run lead to one more run', async () => {
    const { begun, run, began } = heldRun();
    const { loop } = start(run);
    const first = await began(1);
    loop.poke();
    loop.poke();
    loop.poke();
    first?.();
    (await began(2))?.();
    await loop.idle();
    expect(begun).toHaveLength(2);
    await loop.stop();
  });

  it('is idle only when the run that a poke asked for is over', async () => {
    const { run, began } = heldRun();
    const { loop } = start(run);
    (await began(1))?.();
    await loop.idle();
    loop.poke();
    let idle = false;
    const waiting = loop.idle().then(() => {
      idle = true;
    });
    const second = await began(2);
    expect(idle).toBe(false);
    second?.();
    await waiting;
    expect(idle).toBe(true);
    await loop.stop();
  });

  it('is not idle at the instant at which something falls due', async () => {
    let runs = 0;
    const { clock, loop } = start(() => {
      runs += 1;
      return Promise.resolve(runs === 1 ? new Date(clock.now().getTime() + 500) : null);
    });
    await loop.idle();
    const moved = clock.set(new Date(clock.now().getTime() + 500));
    await loop.idle();
    expect(runs).toBe(2);
    await moved;
    await loop.stop();
  });

  it('goes on at once while the run says that more is due now', async () => {
    let left = 3;
    const { clock, loop } = start(() => {
      left -= 1;
      return Promise.resolve(left > 0 ? clock.now() : null);
    });
    await loop.idle();
    expect(left).toBe(0);
    await loop.stop();
  });

  it('a run that throws is tried again, later each time, and never ends the loop', async () => {
    let runs = 0;
    const { clock, log, loop } = start(() => {
      runs += 1;
      return runs < 4 ? Promise.reject(new Error('the store is away')) : Promise.resolve(null);
    });
    await clock.advance(0);
    expect(runs).toBe(1);
    await clock.advance(100);
    expect(runs).toBe(2);
    await clock.advance(199);
    expect(runs).toBe(2);
    await clock.advance(1);
    expect(runs).toBe(3);
    await clock.advance(400);
    expect(runs).toBe(4);
    expect(log.lines.at(-1)).toMatchObject({ level: 'info', fields: { failures: 3 } });
    await loop.stop();
  });

  it('tells of a run that goes on failing ever more rarely, with the number of failures', async () => {
    const { clock, log, loop } = start(() => Promise.reject(new Error('the store is away')));
    for (let run = 0; run < 40; run += 1) await clock.advance(5000);
    const told = log.lines.map(({ level, fields }) => [level, fields['failures']]);
    expect(told).toEqual([1, 2, 4, 8, 16, 32].map((failures) => ['warn', failures]));
    await loop.stop();
  });

  it('idle after a failure tries once more, and waits no longer than that', async () => {
    let runs = 0;
    const { loop } = start(() => {
      runs += 1;
      return Promise.reject(new Error('the broker is away'));
    });
    await loop.idle();
    expect(runs).toBe(1);
    await loop.idle();
    expect(runs).toBe(2);
    await loop.stop();
  });

  it('stop waits for the run in progress and lets idle go', async () => {
    const { begun, run, began } = heldRun();
    const { loop, clock } = start(run);
    const first = await began(1);
    let stopped = false;
    const stopping = loop.stop().then(() => {
      stopped = true;
    });
    await clock.advance(0);
    expect(stopped).toBe(false);
    first?.();
    await stopping;
    await loop.idle();
    loop.poke();
    await clock.advance(10_000);
    expect(begun).toHaveLength(1);
  });
});
