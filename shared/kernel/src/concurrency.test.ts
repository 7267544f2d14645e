import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { aborted, backoffMs, batchWhileBusy, inFlight, keyedMutex, memo, singleFlight, withTimeout } from './concurrency.ts';
import { currentTraceparent, runInSpan, startSpan, traceparentOf } from './trace.ts';

/** Work whose runs end when told. */
const slowWork = <K>() => {
  const runs: { readonly of: K; end(): void; fail(): void }[] = [];
  const work = (of: K) => {
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    runs.push({ of, end: () => resolve(`result of ${String(of)}`), fail: () => reject(new Error('away')) });
    return promise;
  };
  return { runs, work };
};

describe('batchWhileBusy', () => {
  it('runs the first item at once; those that come meanwhile go together as the next', async () => {
    const { runs, work } = slowWork<readonly string[]>();
    const add = batchWhileBusy(work);
    const first = add('a');
    const others = [add('b'), add('c')];
    expect(runs.map(({ of }) => of)).toEqual([['a']]);
    runs[0]?.end();
    expect(await first).toBe('result of a');
    expect(runs.map(({ of }) => of)).toEqual([['a'], ['b', 'c']]);
    runs[1]?.end();
    expect(await Promise.all(others)).toEqual(['result of b,c', 'result of b,c']);
    const last = add('d');
    expect(runs).toHaveLength(3);
    runs[2]?.end();
    await last;
  });

  it('an item never joins a run that has begun', async () => {
    const { runs, work } = slowWork<readonly string[]>();
    const add = batchWhileBusy(work);
    const before = add('a');
    const after = add('a');
    runs[0]?.end();
    await before;
    expect(runs).toHaveLength(2);
    runs[1]?.end();
    await after;
  });

  it('a run is in the trace of its first item', async () => {
    const traces: (string | null)[] = [];
    const add = batchWhileBusy(async (_: readonly string[]) => {
      traces.push(currentTraceparent());
      await Promise.resolve();
    });
    const spans = [startSpan(), startSpan(), startSpan()];
    await Promise.all(spans.map((span) => runInSpan(span, () => add('a'))));
    expect(traces).toEqual(spans.slice(0, 2).map(traceparentOf));
  });

  it('has as many runs in flight as it may', async () => {
    const { runs, work } = slowWork<readonly string[]>();
    const add = batchWhileBusy(work, 2);
    const all = [add('a'), add('b'), add('c'), add('d')];
    expect(runs.map(({ of }) => of)).toEqual([['a'], ['b']]);
    runs[1]?.end();
    await all[1];
    expect(runs.map(({ of }) => of)).toEqual([['a'], ['b'], ['c', 'd']]);
    for (const run of runs) run.end();
    await Promise.all(all);
  });

  it('a failure is that of the items that went together and of no other', async () => {
    const { runs, work } = slowWork<readonly string[]>();
    const add = batchWhileBusy(work);
    const first = add('a');
    const second = add('b');
    runs[0]?.fail();
    await expect(first).rejects.toThrow('away');
    runs[1]?.end();
    expect(await second).toBe('result of b');
  });
});

describe('singleFlight', () => {
  it('calls with one key share a run while it is in flight, and other keys do not wait', async () => {
    const { runs, work } = slowWork<string>();
    const ask = singleFlight(work);
    const asked = [ask('a'), ask('a'), ask('b')];
    expect(runs.map(({ of }) => of)).toEqual(['a', 'b']);
    for (const run of runs) run.end();
    expect(await Promise.all(asked)).toEqual(['result of a', 'result of a', 'result of b']);
    void ask('a');
    expect(runs).toHaveLength(3);
  });

  it('runs again after a failure', async () => {
    const { runs, work } = slowWork<void>();
    const ask = singleFlight(work);
    const asked = [ask(), ask()];
    runs[0]?.fail();
    for (const one of asked) await expect(one).rejects.toThrow('away');
    const next = ask();
    runs[1]?.end();
    await next;
    expect(runs).toHaveLength(2);
  });
});

describe('memo', () => {
  it('makes a result once for each key, until it is deleted', async () => {
    const { runs, work } = slowWork<string>();
    const results = memo(work);
    const first = results.get('a');
    runs[0]?.end();
    expect([await first, await results.get('a')]).toEqual(['result of a', 'result of a']);
    expect(runs).toHaveLength(1);
    results.delete('a');
    void results.get('a');
    results.clear();
    void results.get('a');
    expect(runs).toHaveLength(3);
  });

  it('keeps no failure', async () => {
    const { runs, work } = slowWork<string>();
    const results = memo(work);
    const asked = [results.get('a'), results.get('a')];
    runs[0]?.fail();
    for (const one of asked) await expect(one).rejects.toThrow('away');
    const next = results.get('a');
    runs[1]?.end();
    expect(await next).toBe('result of a');
  });
});

describe('inFlight', () => {
  it('tells when the next piece of work has ended, and when all has', async () => {
    const { runs, work } = slowWork<string>();
    const flights = inFlight();
    const ends: string[] = [];
    const tracked = [flights.track(work('a')), flights.track(work('b'))];
    void flights.next().then(() => ends.push('next'));
    void flights.idle().then(() => ends.push('idle'));
    expect(flights.size()).toBe(2);
    runs[0]?.fail();
    await expect(tracked[0]).rejects.toThrow('away');
    expect([ends, flights.size()]).toEqual([['next'], 1]);
    runs[1]?.end();
    await tracked[1];
    expect([ends, flights.size()]).toEqual([['next', 'idle'], 0]);
    await Promise.all([flights.next(), flights.idle()]);
  });
});

describe('backoffMs', () => {
  it('doubles up to its limit, spreads by jitter and is never nothing', () => {
    expect([0, 1, 2, 5, 6, 2000].map((failures) => backoffMs(failures, () => 1))).toEqual([100, 200, 400, 3200, 5000, 5000]);
    expect(backoffMs(3, () => 0.5)).toBe(400);
    expect(backoffMs(3, () => 1, 300)).toBe(300);
    expect(backoffMs(3, () => 0)).toBe(5);
  });
});

describe('withTimeout', () => {
  beforeEach(() => {
    jest.useFakeTimers();
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  it('gives the result in time, and leaves no timer behind', async () => {
    const { runs, work } = slowWork<AbortSignal>();
    const result = withTimeout(100, work);
    jest.advanceTimersByTime(99);
    runs[0]?.end();
    expect(await result).toBe('result of [object AbortSignal]');
    expect([jest.getTimerCount(), runs[0]?.of.aborted]).toEqual([0, false]);
  });

  it('ends on time and aborts the work, also one that does not heed it', async () => {
    const { runs, work } = slowWork<AbortSignal>();
    const late = withTimeout(100, work, { error: () => new Error('too late') });
    jest.advanceTimersByTime(100);
    await expect(late).rejects.toThrow('too late');
    expect(runs[0]?.of.reason).toMatchObject({ message: 'too late' });
    // Nobody hears of a failure after that.
    runs[0]?.fail();
    const plain = withTimeout(100, work);
    jest.advanceTimersByTime(100);
    await expect(plain).rejects.toMatchObject({ name: 'TimeoutError' });
  });

  it('ends at once with the reason of the signal that it was given', async () => {
    const { runs, work } = slowWork<AbortSignal>();
    const caller = new AbortController();
    const cut = withTimeout(100, work, { signal: caller.signal });
    caller.abort(new Error('the caller is gone'));
    await expect(cut).rejects.toThrow('the caller is gone');
    await expect(withTimeout(100, work, { signal: caller.signal })).rejects.toThrow('the caller is gone');
    expect([runs.length, jest.getTimerCount()]).toEqual([1, 0]);
  });
});

describe('aborted', () => {
  it('resolves when the signal aborts, or has', async () => {
    const controller = new AbortController();
    const over = aborted(controller.signal);
    controller.abort();
    await Promise.all([over, aborted(controller.signal)]);
    expect(controller.signal.aborted).toBe(true);
  });
});

describe('keyedMutex', () => {
  const scene = () => {
    const begun: string[] = [];
    const mutex = keyedMutex();
    const add = (name: string, { key = 'a', mode = 'exclusive' }: { key?: string; mode?: 'exclusive' | 'shared' } = {}) => {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const done = mutex[mode](key, () => {
        begun.push(name);
        return promise;
      });
      const end = () => {
        resolve();
        return setImmediate();
      };
      const fail = () => {
        reject(new Error('away'));
        return setImmediate();
      };
      return { done, end, fail };
    };
    return { begun, add };
  };

  it('begins work when what came before it has ended', async () => {
    const { begun, add } = scene();
    const [one, two] = [add('one'), add('two'), add('three')];
    await setImmediate();
    expect(begun).toEqual(['one']);
    await two.end();
    expect(begun).toEqual(['one']);
    await one.end();
    expect(begun).toEqual(['one', 'two', 'three']);
  });

  it('of another key waits for nothing', () => {
    const { begun, add } = scene();
    add('one');
    add('two', { key: 'b' });
    expect(begun).toEqual(['one', 'two']);
  });

  it('shared work runs beside its like, and nothing overtakes it', async () => {
    const { begun, add } = scene();
    const [one, two] = [add('one', { mode: 'shared' }), add('two', { mode: 'shared' }), add('alone'), add('late', { mode: 'shared' })];
    await setImmediate();
    expect(begun).toEqual(['one', 'two']);
    await two.end();
    expect(begun).toEqual(['one', 'two']);
    await one.end();
    expect(begun).toEqual(['one', 'two', 'alone']);
  });

  it('shared work waits, with its like, for exclusive work', async () => {
    const { begun, add } = scene();
    const alone = add('alone');
    add('one', { mode: 'shared' });
    add('two', { mode: 'shared' });
    await setImmediate();
    expect(begun).toEqual(['alone']);
    await alone.end();
    expect(begun).toEqual(['alone', 'one', 'two']);
  });

  it('goes on after work that fails', async () => {
    const { begun, add } = scene();
    const one = add('one');
    const two = add('two');
    const failed = expect(one.done).rejects.toThrow('away');
    await one.fail();
    await failed;
    expect(begun).toEqual(['one', 'two']);
    await two.end();
    await two.done;
    add('three');
    expect(begun).toEqual(['one', 'two', 'three']);
  });
});
