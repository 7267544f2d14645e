import type { JoinDoc } from '@bubbles/meetings-bot-gateway/adapters/store/joins.ts';
import { openStores } from '@bubbles/meetings-bot-gateway/adapters/store/stores.ts';
import { meetingsWith } from '@bubbles/meetings-bot-gateway/service.ts';
import { openEmbedded } from '@bubbles/store-embedded/open-embedded.ts';
import { fakeClock } from '@bubbles/testing/fake-clock.ts';
import { SILENT_LOG } from '@bubbles/testing/http.ts';
import { openTestService } from '@bubbles/testing/service-under-test.ts';
import { aJoin, aNotetaker } from '../../../services/meetings-bot-gateway/test/builders.ts';
import { serveParent, tellParent } from '../harness/in-child.ts';

/** What the parent may ask. `open` makes a service of its own with joins that all run. */
export type WatchTask =
  | { readonly task: 'open'; readonly name: string; readonly joins: number; readonly perMinute: number }
  | { readonly task: 'look'; readonly name: string; readonly due: number }
  | { readonly task: 'all-due'; readonly name: string; readonly minutes: number };

const MS = 1000;
const MINUTE_MS = 60_000;
/** Until then nobody has to be asked. */
const QUIET_MS = 10 * MINUTE_MS;

const openWatched = async ({ name, joins: count, perMinute }: Extract<WatchTask, { task: 'open' }>) => {
  const clock = fakeClock();
  const calls: number[] = [];
  const notetaker = aNotetaker({
    snapshot() {
      calls.push(clock.now().getTime());
      return Promise.resolve({ status: 'recording', reason: null, recordedEver: true });
    },
  });
  const providers = { named: () => notetaker, forPlatform: () => notetaker, simulator: null, close: () => Promise.resolve() };
  const database = openEmbedded({ path: ':memory:', log: SILENT_LOG }).database(name);
  const definition = meetingsWith({ mayBePlain: true, openProviders: () => providers });
  const environment = { NOTETAKER_SNAPSHOTS_PER_MINUTE: String(perMinute) };
  const { infra, service } = openTestService(definition, { clock, database, environment });
  const { joins, ensureIndexes } = openStores({ ...infra, source: definition.name, onCommit: () => undefined });
  await ensureIndexes();
  const now = clock.now();
  const running = { status: 'recording', work: 'watch', urgency: 'silent', createdAt: now, updatedAt: now, lookedAt: now } as const;
  const dueAt = new Date(now.getTime() + QUIET_MS);
  for (let n = 0; n < count; n += 1) {
    const id = `mj_${n}`;
    await joins.insert({ ...aJoin({ id, ...running }), runningKey: id, providerRef: `run-${n}`, dueAt }, []);
  }
  await service.start();
  return { clock, calls, service, documents: database.collection<JoinDoc>('joins'), count };
};

const opened = new Map<string, Awaited<ReturnType<typeof openWatched>>>();
const openedAs = (name: string) => {
  const one = opened.get(name);
  if (one === undefined) throw new Error(`${name} is not open`);
  return one;
};

let turn = 0;
/** Lets some joins fall due, the next ones each time, as after news of them, so that they are asked about at once; CPU microseconds for each. */
const look = async (name: string, due: number): Promise<number> => {
  const { clock, calls, service, documents, count } = openedAs(name);
  turn += 1;
  const ids = Array.from({ length: due }, (_, n) => `mj_${(turn * due + n) % count}`);
  await documents.updateMany({ _id: { $in: ids } }, { $set: { dueAt: clock.now(), urgency: 'hinted' } });
  const [before, cpu] = [calls.length, process.cpuUsage()];
  await clock.advance(MS);
  await service.settle();
  const { user, system } = process.cpuUsage(cpu);
  if (calls.length - before !== due) throw new Error(`${calls.length - before} of ${due} were asked about`);
  return (user + system) / due;
};

/** The most calls in any minute while all are due, from second to second. */
const allDue = async (name: string, minutes: number): Promise<{ readonly most: number; readonly calls: number }> => {
  const { clock, calls, service, documents } = openedAs(name);
  await documents.updateMany({ work: 'watch' }, { $set: { dueAt: clock.now() } });
  for (let second = 0; second < minutes * (MINUTE_MS / MS); second += 1) {
    await clock.advance(MS);
    await service.settle();
  }
  const within = calls.map((from, at) => calls.slice(at).findIndex((to) => to >= from + MINUTE_MS));
  const most = within.reduce((largest, length, at) => Math.max(largest, length === -1 ? calls.length - at : length), 0);
  return { most, calls: calls.length };
};

serveParent(async (task: WatchTask) => {
  if (task.task === 'look') return look(task.name, task.due);
  if (task.task === 'all-due') return allDue(task.name, task.minutes);
  opened.set(task.name, await openWatched(task));
  return null;
});
tellParent({});
