import type { Loop } from '@bubbles/kernel/loop.ts';
import { openTestService } from '@bubbles/testing/service-under-test.ts';
import { describe, expect, it } from '@jest/globals';
import { type Composition, createLoop, defineService } from './service.ts';

const define = (composition: Partial<Composition>) =>
  defineService({
    name: 'sample',
    variables: {},
    asks: [],
    compose: () => ({ routes: [], ensureIndexes: () => Promise.resolve(), ...composition }),
  });

/** What happened to loops, checks and the end, in order. */
const diary = () => {
  const events: string[] = [];
  const note = (event: string) => () => {
    events.push(event);
    return Promise.resolve();
  };
  const loop = (name: string) => (): Loop => {
    events.push(`${name} starts`);
    return { poke: () => void events.push(`${name} poked`), idle: note(`${name} idle`), stop: note(`${name} stopped`) };
  };
  return { events, note, loop };
};

describe('a service under its host', () => {
  it('makes its indexes and proves what must hold before its loops begin; nothing is poked before', async () => {
    const { events, note, loop } = diary();
    const sender = createLoop(loop('sender'));
    const definition = define({ ensureIndexes: note('indexes'), check: note('checked'), loops: [sender] });
    const { service } = openTestService(definition);
    sender.poke();
    await service.start();
    expect(events).toEqual(['indexes', 'checked', 'sender starts']);
  });

  it('starts no loop twice when a start that failed is tried again', async () => {
    const { events, note, loop } = diary();
    let isAway = true;
    const check = () => (isAway ? Promise.reject(new Error('away')) : note('checked')());
    const { service } = openTestService(define({ check, loops: [createLoop(loop('sender'))] }));
    await expect(service.start()).rejects.toThrow('away');
    isAway = false;
    await service.start();
    expect(events).toEqual(['checked', 'sender starts']);
  });

  it('settles in rounds until no end of work makes more, and leaves what others wait for to a settling of all', async () => {
    const { events, loop } = diary();
    const ends = [true, false];
    const sender = createLoop(loop('sender'), { scope: 'all', drained: () => Promise.resolve(ends.shift() ?? false) });
    const { service } = openTestService(define({ loops: [createLoop(loop('reader')), sender] }));
    await service.start();
    events.length = 0;
    await service.settle('facts');
    expect(events).toEqual(['reader poked', 'reader idle']);
    events.length = 0;
    await service.settle();
    const round = ['reader poked', 'reader idle', 'sender poked', 'sender idle'];
    expect(events).toEqual([...round, ...round]);
  });

  it('stops claiming, then its loops, then what is in flight when its time is over, and lets go at the end', async () => {
    const { events, note, loop } = diary();
    const over = Promise.withResolvers<boolean>();
    const cut = () => {
      events.push('cut');
      over.resolve(true);
    };
    const stopClaiming = () => void events.push('claims no more');
    const sender = createLoop(loop('sender'), { stopClaiming, drained: () => over.promise, cut });
    const { service } = openTestService(define({ loops: [sender], close: note('closed') }));
    await service.start();
    await service.stop(1);
    expect(events).toEqual(['sender starts', 'claims no more', 'sender stopped', 'cut', 'closed']);
  });

  it('cuts what is in flight of a loop that ends no sooner', async () => {
    const over = Promise.withResolvers<void>();
    const loop = (): Loop => ({ poke: () => undefined, idle: () => Promise.resolve(), stop: () => over.promise });
    const { service } = openTestService(define({ loops: [createLoop(loop, { cut: () => over.resolve() })] }));
    await service.start();
    await expect(service.stop(1)).resolves.toBeUndefined();
  });

  it('is refused a client of a service that it does not say that it asks', () => {
    const definition = defineService({
      name: 'sample',
      variables: {},
      asks: [],
      compose: ({ client }) => {
        client('identity-and-oauth');
        return { routes: [], ensureIndexes: () => Promise.resolve() };
      },
    });
    expect(() => openTestService(definition)).toThrow('sample does not say that it asks identity-and-oauth.');
  });
});
