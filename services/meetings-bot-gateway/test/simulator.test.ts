import { createSeal } from '@bubbles/kernel/seal.ts';
import { fakeClock } from '@bubbles/testing/fake-clock.ts';
import { fakeIds } from '@bubbles/testing/fake-ids.ts';
import { memoryDatabase } from '@bubbles/testing/memory-database.ts';
import { createSimulator } from '../src/adapters/notetakers/simulator.ts';
import { openStores } from '../src/adapters/store/stores.ts';
import { NOON } from './builders.ts';
import { describeNotetaker, type NotetakerWorld, RECORDED } from './notetaker.contract.ts';

const LEFT = { recording: 'there', transcript: 'none' } as const;

const open = async (): Promise<NotetakerWorld> => {
  const clock = fakeClock(NOON);
  const ids = fakeIds();
  const stores = openStores({ database: memoryDatabase(), clock, ids, source: 'meetings-bot-gateway', onCommit: () => undefined });
  await stores.ensureIndexes();
  const seal = createSeal([{ id: 'k1', key: Buffer.alloc(32, 1) }], (length) => Buffer.from(ids.bytes(length)));
  const simulator = createSimulator({ runs: stores.simulatedRuns, seal, clock });
  const kept = new Map<string, Parameters<NotetakerWorld['keep']>[1]>();
  return {
    notetaker: simulator,
    sent: async () => (await simulator.runs()).map(({ joinId }) => joinId),
    async move(joinId, status) {
      const { transcript } = kept.get(joinId) ?? LEFT;
      await simulator.report(joinId, {
        status,
        reason: status === 'fatal' ? 'entry_denied' : null,
        title: RECORDED.title,
        participants: [],
        segments: transcript === 'there' ? RECORDED.segments : null,
        durationSeconds: null,
        hasVideo: true,
      });
    },
    hasLeft: async (joinId) => (await simulator.runs()).some((run) => run.joinId === joinId && run.leftAt !== null),
    // It keeps no media.
    hasErased: () => Promise.resolve(true),
    keep: (joinId, what) => void kept.set(joinId, what),
    wire: null,
    stop: () => Promise.resolve(),
  };
};

const simulator = {
  name: 'the simulator',
  statuses: ['joining', 'in_waiting_room', 'in_call', 'recording'],
  fatalReason: 'entry_denied',
  unknownRef: 'mj_9',
  hasFiles: false,
  open,
} as const;
describeNotetaker(simulator);
