import { describe, expect, it } from '@jest/globals';
import { createLock } from './lock.ts';

const tick = () => new Promise((resolve) => setImmediate(resolve));

describe('the lock of control calls', () => {
  it('lets calls in together, and a clock step alone after those inside', async () => {
    const { shared, exclusive } = createLock();
    const log: string[] = [];
    const first = Promise.withResolvers<void>();
    const a = shared(() => first.promise.then(() => void log.push('a')));
    const note = (name: string) => async () => {
      await tick();
      log.push(name);
    };
    const b = shared(note('b'));
    await tick();
    const step = exclusive(note('step'));
    const late = shared(note('late'));
    await tick();
    expect(log).toEqual(['b']);
    first.resolve();
    await Promise.all([a, b, step, late]);
    expect(log).toEqual(['b', 'a', 'step', 'late']);
  });

  it('goes on after a call that failed', async () => {
    const { shared, exclusive } = createLock();
    await expect(exclusive(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
    await expect(shared(() => tick().then(() => 'in'))).resolves.toBe('in');
  });
});
