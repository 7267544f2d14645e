import { describe, expect, it } from '@jest/globals';
import { firstToConnect } from './happy-eyeballs.ts';

/** What is open to an address, decided by the test; time stands still until it is moved. */
const scene = (addresses: readonly string[], openTill: AsyncIterable<string> | null = null) => {
  const begun = new Map<string, PromiseWithResolvers<{ destroy(): void }>>();
  const destroyed: string[] = [];
  const aborted: string[] = [];
  const sleepers: (() => void)[] = [];
  const stop = new AbortController();
  const listed = async function* () {
    for (const address of addresses) {
      await Promise.resolve();
      yield address;
    }
  };
  const connection = firstToConnect({
    addresses: openTill ?? listed(),
    signal: stop.signal,
    sleep: () => new Promise<void>((resolve) => sleepers.push(resolve)),
    open(address, signal) {
      const opening = Promise.withResolvers<{ destroy(): void }>();
      begun.set(address, opening);
      signal.addEventListener('abort', () => aborted.push(address));
      return opening.promise;
    },
  });
  const settled = connection.then(
    () => 'connected',
    (error) => error.code ?? error.message,
  );
  const turns = async () => {
    for (let n = 0; n < 20; n += 1) await Promise.resolve();
  };
  return {
    connection,
    settled,
    stop,
    aborted,
    destroyed,
    begun: async () => {
      await turns();
      return [...begun.keys()];
    },
    pass() {
      for (const wake of sleepers.splice(0)) wake();
    },
    connect(address: string) {
      const destroy = () => destroyed.push(address);
      const one = { address, destroy };
      begun.get(address)?.resolve(one);
      return one;
    },
    fail: (address: string, code: string) => begun.get(address)?.reject(Object.assign(new Error(code), { code })),
  };
};

describe('DLV-04 the race of connections', () => {
  it('[DLV-04] tries the next address when its time has come, and lets the attempts before go on', async () => {
    const { begun, pass, connect, connection, aborted } = scene(['a', 'b', 'c']);
    expect(await begun()).toEqual(['a']);
    pass();
    expect(await begun()).toEqual(['a', 'b']);
    pass();
    expect(await begun()).toEqual(['a', 'b', 'c']);
    pass();
    const first = connect('a');
    expect(await connection).toBe(first);
    expect(aborted).toEqual(['a', 'b', 'c']);
  });

  it('[DLV-04] tries it at once when the one before has failed', async () => {
    const { begun, fail, connect, connection } = scene(['a', 'b']);
    await begun();
    fail('a', 'ECONNREFUSED');
    expect(await begun()).toEqual(['a', 'b']);
    const first = connect('b');
    expect(await connection).toBe(first);
  });

  it('closes a connection that comes too late, and begins no other', async () => {
    const { begun, pass, connect, connection, destroyed } = scene(['a', 'b', 'c']);
    await begun();
    pass();
    await begun();
    const first = connect('b');
    expect(await connection).toBe(first);
    connect('a');
    pass();
    expect(await begun()).toEqual(['a', 'b']);
    expect(destroyed).toEqual(['a']);
  });

  it('tells the fault of the receiver rather than that of our network', async () => {
    const { begun, fail, settled } = scene(['a', 'b', 'c']);
    for (const [address, code] of [
      ['a', 'ENETUNREACH'],
      ['b', 'ECONNREFUSED'],
      ['c', 'EHOSTUNREACH'],
    ] as const) {
      await begun();
      fail(address, code);
    }
    expect(await settled).toBe('ECONNREFUSED');
  });

  it('[DLV-04] ends with the signal, whatever goes on, with its reason', async () => {
    const { begun, stop, settled, aborted } = scene(['a', 'b']);
    await begun();
    stop.abort(new Error('too late'));
    expect(await settled).toBe('too late');
    expect(aborted).toEqual(['a']);
  });

  it('[DLV-06] tries twenty addresses at most', async () => {
    const many = Array.from({ length: 50 }, (_, n) => `a${n}`);
    const { begun, fail, settled } = scene(many);
    for (let tried = 0, all = await begun(); all.length > tried; all = await begun()) {
      tried = all.length;
      fail(all.at(-1) ?? '', 'ECONNREFUSED');
    }
    expect(await settled).toBe('ECONNREFUSED');
    expect(await begun()).toHaveLength(20);
  });

  it('waits for no further address once it is connected', async () => {
    const silent = async function* () {
      yield 'a';
      await new Promise(() => null);
    };
    const { begun, pass, connect, connection } = scene([], silent());
    await begun();
    pass();
    const first = connect('a');
    expect(await connection).toBe(first);
  });

  it('[DLV-04] waits for a further address for a moment only when all before it have failed', async () => {
    const silent = async function* () {
      yield 'a';
      await new Promise(() => null);
    };
    const { begun, pass, fail, settled } = scene([], silent());
    await begun();
    fail('a', 'ECONNREFUSED');
    await begun();
    pass();
    expect(await settled).toBe('ECONNREFUSED');
  });

  it('tells why there is no address', async () => {
    const none = async function* () {
      yield* await Promise.reject<string[]>(new Error('no address'));
    };
    expect(await scene([], none()).settled).toBe('no address');
  });
});
