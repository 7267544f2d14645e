import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import { createLoadShedder, type LoadShedder } from './overload.ts';

/** Holds the event loop, as too much work does. */
const block = (ms: number): void => {
  const until = performance.now() + ms;
  while (performance.now() < until);
};
/** Lets the sampler's timer fire. */
const turn = (): Promise<void> => pause(0);

describe('shedding of load', () => {
  let shedder: LoadShedder;
  afterEach(() => shedder.stop());

  const burden = async (rounds: number, requests: number) => {
    for (let round = 0; round < rounds; round += 1) {
      for (let request = 0; request < requests; request += 1) shedder.admit();
      block(120);
      await turn();
    }
  };

  it('[ERR-05] begins when the loop stays late under traffic, and ends when it is in time', async () => {
    shedder = createLoadShedder();
    expect(shedder.admit()).toBe(true);
    await burden(3, 20);
    expect(shedder.admit()).toBe(false);
    expect(shedder.refusingSince()).not.toBeNull();
    while (!shedder.admit()) await pause(5);
    expect(shedder.refusingSince()).toBeNull();
  });

  it('one late sample is no overload', async () => {
    shedder = createLoadShedder();
    await burden(1, 20);
    expect(shedder.admit()).toBe(true);
  });

  it('lag without traffic is no overload', async () => {
    shedder = createLoadShedder();
    await burden(4, 2);
    expect(shedder.admit()).toBe(true);
  });
});
