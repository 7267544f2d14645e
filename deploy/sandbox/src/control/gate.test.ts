import { describe, expect, it } from '@jest/globals';
import { gate } from './gate.ts';

const tick = () => new Promise((resolve) => setImmediate(resolve));

describe('the gate of control calls', () => {
  it('lets calls in together, and a clock step alone after those inside', async () => {
    const { shared, alone } = gate();
    const log: string[] = [];
    const first = Promise.withResolvers<void>();
    const a = shared(() => first.promise.then(() => void log.push('a')));
    const b = shared(async () => void (await tick(), log.push('b')));
    await tick();
    const step = alone(async () => void (await tick(), log.push('step')));
    const late = shared(async () => void (await tick(), log.push('late')));
    await tick();
    expect(log).toEqual(['b']);
    first.resolve();
    await Promise.all([a, b, step, late]);
    expect(log).toEqual(['b', 'a', 'step', 'late']);
  });

  it('goes on after a call that failed', async () => {
    const { shared, alone } = gate();
    await expect(alone(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
    await expect(shared(async () => (await tick(), 'in'))).resolves.toBe('in');
  });
});
