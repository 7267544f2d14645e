import { systemIds } from '@bubbles/kernel/ids.ts';
import { fakeClock } from '@bubbles/testing/fake-clock.ts';
import { memoryLog } from '@bubbles/testing/memory-log.ts';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { POOL_LIMITS } from './address.ts';
import { createUpstreams, type Upstreams } from './upstreams.ts';

const SERVICE = 'meetings-bot-gateway';
const URLS = ['http://127.0.0.1:1', 'http://127.0.0.1:2'];
const NOBODY_LEAVES = { once: () => undefined, off: () => undefined };

describe('the replicas of a service, least in flight first', () => {
  let upstreams: Upstreams;
  beforeEach(async () => {
    const loop = { clock: fakeClock(), log: memoryLog(), onFailure: () => undefined };
    upstreams = createUpstreams({ ...loop, urls: { [SERVICE]: URLS }, ids: systemIds(), limits: POOL_LIMITS });
    await upstreams.start();
  });
  afterEach(() => upstreams.stop());
  /** Equals take turns by chance. */
  const firsts = (kind: 'usual' | 'long') =>
    new Set(Array.from({ length: 100 }, () => upstreams.candidates(SERVICE, null, kind)[0]?.origin));

  it('[ERR-05] a long request counts among the long ones alone', async () => {
    const [busy] = upstreams.addresses(SERVICE);
    await busy?.enter({ caller: 'viewer', leaving: NOBODY_LEAVES, kind: 'long', bypassesBreaker: false });
    expect(firsts('long')).toEqual(new Set([URLS[1]]));
    expect(firsts('usual')).toEqual(new Set(URLS));
  });
});
