import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { inTurn } from './in-turn.ts';

const scene = () => {
  const begun: string[] = [];
  const turn = inTurn();
  /** Work that runs until it is told how to end. */
  const add = (name: string, { key = 'a', shared = false } = {}) => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const work = () => {
      begun.push(name);
      return promise;
    };
    const done = turn({ key, shared, work });
    return {
      done,
      end() {
        resolve();
        return setImmediate();
      },
      fail() {
        reject(new Error('away'));
        return setImmediate();
      },
    };
  };
  return { begun, add };
};

describe('work in turn', () => {
  it('begins when what came before it has ended', async () => {
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

  it('that is shared runs beside its like, and nothing overtakes them', async () => {
    const { begun, add } = scene();
    const [one, two] = [add('one', { shared: true }), add('two', { shared: true }), add('alone'), add('late', { shared: true })];
    await setImmediate();
    expect(begun).toEqual(['one', 'two']);
    await two.end();
    expect(begun).toEqual(['one', 'two']);
    await one.end();
    expect(begun).toEqual(['one', 'two', 'alone']);
  });

  it('that is shared waits, with its like, for what is not', async () => {
    const { begun, add } = scene();
    const alone = add('alone');
    add('one', { shared: true });
    add('two', { shared: true });
    await setImmediate();
    expect(begun).toEqual(['alone']);
    await alone.end();
    expect(begun).toEqual(['alone', 'one', 'two']);
  });

  it('that fails is its own affair', async () => {
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
