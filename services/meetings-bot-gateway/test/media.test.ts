import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { createMemoryBus } from '@bubbles/bus/memory/memory.ts';
import { DomainError } from '@bubbles/kernel/errors.ts';
import { crashPoints, faultPoints } from '@bubbles/testing/crash-points.ts';
import { fakeClock } from '@bubbles/testing/fake-clock.ts';
import { memoryDatabase } from '@bubbles/testing/memory-database.ts';
import { memoryLog } from '@bubbles/testing/memory-log.ts';
import { watchedWorld } from '@bubbles/testing/watched-world.ts';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { bubbleIdOf } from '../src/domain/join.ts';
import type { MediaStore } from '../src/ports.ts';
import { NOON } from './builders.ts';
import { startGateway, type TestGateway } from './gateway.ts';

const LEASE_SECONDS = 60;
/** More than the flow has. */
const MOST_STEPS = 80;

let folder: string;
const started: TestGateway[] = [];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'meetings-'));
});
afterEach(async () => {
  for (const one of started.splice(0)) await one.stop();
  await rm(folder, { recursive: true, force: true });
});
const start = async (options: Parameters<typeof startGateway>[0]): Promise<TestGateway> => {
  const gateway = await startGateway({ folder, ...options });
  started.push(gateway);
  return gateway;
};

/** The keys of the files that are there; none is half. */
const files = async (): Promise<string[]> => {
  const names = await readdir(folder);
  if (names.includes('unfinished')) expect(await readdir(join(folder, 'unfinished'))).toEqual([]);
  return names.filter((name) => name !== 'unfinished');
};
const keyOf = (url: string | null | undefined) => url?.slice('https://api.test/media/'.length) ?? '';
const meeting = (n: number) => ({ meeting_url: `https://meet.google.com/aaa-aaaa-aa${String.fromCharCode(97 + n)}` });

describe('the file of a recording', () => {
  it('[MEET-09] is copied, and reached by the link that the captured recording tells', async () => {
    const gateway = await start({});
    const { body } = await gateway.join();
    const { body: moved } = await gateway.report(body.id, { status: 'done' });
    const [told] = gateway.captured;
    expect(told?.video_url).toBe(moved.video_url);
    expect(await files()).toEqual([keyOf(told?.video_url)]);
    expect((await gateway.call('GET', `/v1/meetings/join/${body.id}/events`)).body.bubble_id).toBe(told?.bubble_id);
  });

  it('[MEET-09] is not there where the provider has none', async () => {
    const gateway = await start({});
    const { body } = await gateway.join();
    expect((await gateway.report(body.id, { status: 'done', has_video: false })).body.video_url).toBeNull();
    expect([gateway.captured, await files()]).toMatchObject([[{ video_url: null }], []]);
  });

  it('goes with its bubble', async () => {
    const gateway = await start({});
    const [first, second] = [await gateway.join(meeting(0)), await gateway.join(meeting(1))];
    for (const { body } of [first, second]) await gateway.report(body.id, { status: 'done' });
    expect(await files()).toHaveLength(2);
    for (let n = 0; n < 2; n += 1) await gateway.removeBubble(bubbleIdOf(first.body.id));
    expect(await files()).toEqual([keyOf(gateway.captured.find(({ join_id }) => join_id === second.body.id)?.video_url)]);
    await gateway.removeBubble('0b6a8a52-7f0c-4a4e-9d3b-6f2f3c1f5a10');
  });

  it('is waited for while its store is away, until the provider keeps it no longer', async () => {
    let isAway = true;
    const away = () => Promise.reject(new DomainError('unavailable', 'Nobody is there.'));
    const through = (store: MediaStore): MediaStore => ({ ...store, put: (...args) => (isAway ? away() : store.put(...args)) });
    const gateway = await start({ through });
    const [first, second] = [await gateway.join(meeting(0)), await gateway.join(meeting(1))];
    const segments = [{ speaker: null, text: 'Hello.', start_time_seconds: 0, end_time_seconds: 1 }];
    await gateway.report(first.body.id, { status: 'done', segments });
    for (let hour = 0; hour < 71; hour += 1) await gateway.pass(3600);
    expect([gateway.captured, (await gateway.status(first.body.id)).body.status]).toEqual([[], 'done']);
    await gateway.report(second.body.id, { status: 'recording' });
    await gateway.report(second.body.id, { status: 'done' });
    await gateway.pass(3600);
    await gateway.pass(3600);
    expect(gateway.captured).toMatchObject([{ join_id: first.body.id, video_url: null, segments: [{ text: 'Hello.' }] }]);
    const { data } = (await gateway.call('GET', `/v1/meetings/join/${first.body.id}/events`)).body;
    expect(data.at(-1)).toMatchObject({ status: 'done', reason: 'video_not_available' });
    expect(await gateway.figures()).toContain('meeting_captures_total{outcome="partly"} 1');
    isAway = false;
    await gateway.pass(3600);
    expect(gateway.captured.map(({ join_id }) => join_id)).toEqual([first.body.id]);
    expect((await gateway.status(second.body.id)).body.status).toBe('fatal');
  });

  it('[MEET-09] of many recordings is copied once each by two processes on one store', async () => {
    const shared = {
      database: memoryDatabase(),
      clock: fakeClock(NOON),
      bus: createMemoryBus({ clock: fakeClock(NOON), log: memoryLog() }),
    };
    const puts: string[] = [];
    const through = (store: MediaStore): MediaStore => ({
      ...store,
      async put(key, ...rest) {
        puts.push(key);
        await setImmediate();
        await store.put(key, ...rest);
      },
    });
    const [one, other] = [await start({ ...shared, through }), await start({ ...shared, through })];
    const ids: string[] = [];
    for (let n = 0; n < 12; n += 1) ids.push((await one.join(meeting(n))).body.id);
    await Promise.all(ids.map((id, n) => (n % 2 ? one : other).call('POST', `/internal/v1/admin/notetakers/${id}`, { status: 'done' })));
    for (const gateway of [one, other, one]) await gateway.settle();
    const told = new Set([...one.captured, ...other.captured].map(({ video_url }) => keyOf(video_url)));
    expect([told.size, puts.toSorted()]).toEqual([12, [...told].toSorted()]);
    expect((await files()).toSorted()).toEqual([...told].toSorted());
  });
});

describe('a capture', () => {
  /** Until a lease has ended, and what failed then was tried again. */
  const passTries = async (gateway: TestGateway) => {
    for (let n = 0; n < 6; n += 1) await gateway.pass(LEASE_SECONDS / 2);
  };
  const done = ({ call }: TestGateway, id: string) => call('POST', `/internal/v1/admin/notetakers/${id}`, { status: 'done' });

  it('[MEET-09] that dies at any step of store or files leaves one file and one bubble', async () => {
    let deaths = 0;
    for (let step = 1, died = true; died && step < MOST_STEPS; step += 1) {
      const world = watchedWorld();
      const data = memoryDatabase();
      const through = (store: MediaStore) => world.port(store, ['put', 'remove']);
      const doomed = await startGateway({ folder, database: world.database(data), through });
      const { body } = await doomed.join();
      const crash = crashPoints(step);
      world.watchBy(crash);
      await done(doomed, body.id);
      let isOver = false;
      const settled = doomed.settle().then(() => {
        isOver = true;
      });
      while (!isOver && crash.steps() < step) await setImmediate();
      died = crash.steps() >= step;
      if (!died) await settled;
      const gone = doomed.stop();
      const survivor = await start({ database: data, clock: doomed.clock, identity: doomed.identity });
      await survivor.pass(LEASE_SECONDS);
      await gone;
      await done(survivor, body.id);
      await passTries(survivor);
      const told = [...doomed.captured, ...survivor.captured];
      expect(new Set(told.map(({ bubble_id }) => bubble_id))).toEqual(new Set([bubbleIdOf(body.id)]));
      expect(await files()).toEqual([keyOf(told[0]?.video_url)]);
      await started.pop()?.stop();
      await rm(folder, { recursive: true });
      if (died) deaths += 1;
    }
    expect(deaths).toBeGreaterThan(15);
  });

  it('[MEET-09] that fails at any step of store or files is done again', async () => {
    const world = watchedWorld();
    const through = (store: MediaStore) => world.port(store, ['put']);
    const gateway = await start({ database: world.database(memoryDatabase()), through });
    let failures = 0;
    for (let step = 1, hasFailed = true; hasFailed && step < MOST_STEPS; step += 1) {
      const { body } = await gateway.join({ meeting_url: `https://zoom.us/j/12345678${10 + step}` });
      const fault = faultPoints(step, () => new DomainError('unavailable', 'away'));
      world.watchBy(fault);
      for (let tries = 0; tries < 2 && (await done(gateway, body.id)).status !== 200; tries += 1);
      await passTries(gateway);
      world.watchBy(null);
      hasFailed = fault.steps() >= step;
      if (hasFailed) failures += 1;
      const told = gateway.captured.filter(({ join_id }) => join_id === body.id);
      expect(new Set(told.map(({ video_url }) => video_url)).size).toBe(1);
      expect(await files()).toHaveLength(step);
    }
    expect(failures).toBeGreaterThan(15);
  });
});
