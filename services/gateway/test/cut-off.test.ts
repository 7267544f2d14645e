import { fakeClock } from '@bubbles/testing/fake-clock.ts';
import { afterEach, describe, expect, it } from '@jest/globals';
import { BUBBLES_FRAGMENT, type FakeService, startFakeService } from './fake-services.ts';
import { startWorld, type World, type WorldOptions } from './start.ts';

const FAILURES_TO_OPEN = 10;

const open: { stop(): Promise<unknown> }[] = [];
afterEach(async () => {
  for (const thing of open.splice(0).toReversed()) await thing.stop();
});

/** Its clock stands still, and so does the pause of a breaker that is open. */
const aWorld = async (config: WorldOptions['config'] = {}): Promise<World> => {
  const world = await startWorld({ config, infra: { clock: fakeClock() } });
  open.push(world);
  return world;
};

const aReplica = async (port = 0): Promise<FakeService> => {
  const replica = await startFakeService(BUBBLES_FRAGMENT, undefined, port);
  open.push(replica);
  return replica;
};

/** Holds one request there, so that the other replica has less to do and is asked first while its breaker is closed. */
const keepBusy = async (replica: FakeService, ask: () => Promise<number>): Promise<() => Promise<number>> => {
  const { handle } = replica;
  const taken = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<void>();
  replica.handle = (...request) => {
    taken.resolve();
    void answer.promise.then(() => handle(...request));
  };
  const held = ask();
  await taken.promise;
  replica.handle = handle;
  return () => {
    answer.resolve();
    return held;
  };
};

describe('a request that was cut off', () => {
  it('[ERR-05] bypasses the open breaker of a replica that is back, when the other one cut the kept connection', async () => {
    const gone = await startFakeService(BUBBLES_FRAGMENT);
    const other = await aReplica();
    const { fetch } = await aWorld({ upstreams: { 'bubbles-query': [gone.url, other.url] } });
    const ask = async () => (await fetch('/v1/bubbles/open')).status;
    await gone.stop();
    const release = await keepBusy(other, ask);
    for (let n = 0; n < FAILURES_TO_OPEN; n += 1) expect(await ask()).toBe(200);
    const back = await aReplica(gone.port);
    expect(await ask()).toBe(200);
    expect(back.seen).toEqual([]);

    const kept = new Set(other.sockets);
    const cut: boolean[] = [];
    other.handle = ({ socket }) => {
      cut.push(kept.has(socket));
      socket.resetAndDestroy();
    };
    expect(await ask()).toBe(200);
    expect([cut, back.seen.length]).toEqual([[true], 1]);
    expect(await release()).toBe(200);
  });

  it('[ERR-05] does not bypass the breaker of the replica that cut it off', async () => {
    const { bubbles, fetch } = await aWorld();
    const reasonOf = async (method: string) => (await fetch('/v1/bubbles/open', { method })).headers.get('x-gateway-reason');
    bubbles.handle = ({ socket }) => void socket.resetAndDestroy();
    expect(await reasonOf('POST')).toBe('upstream-down');
    while (bubbles.seen.length < FAILURES_TO_OPEN - 1) expect(await reasonOf('GET')).toBe('upstream-down');
    expect(bubbles.seen.length).toBe(FAILURES_TO_OPEN - 1);
    expect(await reasonOf('GET')).toBe('upstream-down');
    expect(await reasonOf('GET')).toBe('breaker');
    expect(bubbles.seen.length).toBe(FAILURES_TO_OPEN);
  });
});
