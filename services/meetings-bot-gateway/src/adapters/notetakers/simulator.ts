import { readFile } from 'node:fs/promises';
import type { Clock } from '@bubbles/kernel/clock.ts';
import type { Seal } from '@bubbles/kernel/seal.ts';
import type { Collection } from '@bubbles/store/collection.ts';
import { isFinal, mayMove } from '../../domain/join.ts';
import type { MediaFile, Notetaker, SimulatedReport, SimulatedRun, Simulator } from '../../ports.ts';

/** A run lies in the store, so that every replica answers for it. `_id` is the id of the join. */
export interface SimulatedRunDoc extends Omit<SimulatedRun, 'joinId' | 'meetingUrl'>, SimulatedReport {
  readonly _id: string;
  /** Null when it was erased. */
  readonly linkSealed: string | null;
  /** When it came; absent once it was erased. */
  readonly linkAt?: Date;
  readonly recordedEver: boolean;
  readonly startedAt: Date | null;
}

interface Options {
  readonly runs: Collection<SimulatedRunDoc>;
  readonly seal: Seal;
  readonly clock: Clock;
}

const NAME = 'simulator';
/** Context name for sealing the link of a run. */
export const simulatedLinkName = (joinId: string) => `simulated run ${joinId}`;
/** Links per run of the job; the next run continues. */
const LINKS_PER_RUN = 500;
const RECORDED: ReadonlySet<string> = new Set(['recording', 'done']);

/** Two seconds of a progress bar. */
const VIDEO = new URL('./simulated-recording.mp4', import.meta.url);

const openVideo = async (): Promise<MediaFile> => {
  const content = await readFile(VIDEO);
  return {
    contentType: 'video/mp4',
    length: content.length,
    bytes: (async function* () {
      yield await Promise.resolve(content);
    })(),
  };
};

const newRun = (joinId: string, linkSealed: string, requestedAt: Date): SimulatedRunDoc => ({
  _id: joinId,
  linkSealed,
  linkAt: requestedAt,
  requestedAt,
  leftAt: null,
  status: 'dispatched',
  reason: null,
  recordedEver: false,
  startedAt: null,
  title: null,
  participants: [],
  segments: null,
  durationSeconds: null,
  hasVideo: true,
});

/** A provider that sends nobody: an operator says what its notetakers meet. */
export const createSimulator = ({ runs, seal, clock }: Options): Notetaker & Simulator => {
  const finished = async (ref: string): Promise<SimulatedRunDoc | null> => {
    const run = await runs.findOne({ _id: ref });
    return run?.recordedEver ? run : null;
  };

  /** What it comes to when the notetaker is at `before`; forward only. */
  const reported = (before: SimulatedRunDoc, report: SimulatedReport) => {
    const isRecorded = RECORDED.has(report.status);
    return {
      ...report,
      recordedEver: before.recordedEver || isRecorded,
      startedAt: before.startedAt ?? (isRecorded ? clock.now() : null),
      leftAt: before.leftAt ?? (isFinal(report.status) ? clock.now() : null),
    };
  };

  return {
    name: NAME,
    async dispatch({ joinId, meetingUrl }) {
      const linkSealed = seal.seal(Buffer.from(meetingUrl), simulatedLinkName(joinId));
      return { ref: joinId, adopted: !(await runs.insert(newRun(joinId, linkSealed, clock.now()))) };
    },
    find: async ({ joinId }) => (await runs.findOne({ _id: joinId }))?._id ?? null,
    async snapshot(ref) {
      const run = await runs.findOne({ _id: ref });
      return run && { status: run.status, reason: run.reason, recordedEver: run.recordedEver };
    },
    async leave(ref) {
      await runs.updateOne({ _id: ref, leftAt: null }, { $set: { leftAt: clock.now() } });
    },
    async recording(ref) {
      const run = await finished(ref);
      if (run === null) return 'none';
      const { title, startedAt, durationSeconds, participants, hasVideo } = run;
      return { title, startedAt, durationSeconds, participants, open: hasVideo ? openVideo : null };
    },
    transcript: async (ref) => (await finished(ref))?.segments ?? 'none',
    // Nobody sends webhooks of it: what an operator reports is read from the store.
    verify: () => null,
    async runs() {
      const docs = await runs.find({}, { sort: { requestedAt: 1, _id: 1 } });
      return docs.map(({ _id, linkSealed, requestedAt, leftAt }) => ({
        joinId: _id,
        meetingUrl: linkSealed === null ? null : seal.unseal(linkSealed, simulatedLinkName(_id)).toString(),
        requestedAt,
        leftAt,
      }));
    },
    async eraseLinks(before, erased) {
      const found = await runs.find({ linkAt: { $lte: before } }, { sort: { linkAt: 1 }, limit: LINKS_PER_RUN, projection: { _id: 1 } });
      const gone = await erased(found.map(({ _id }) => _id));
      await runs.updateMany({ _id: { $in: [...gone] } }, { $set: { linkSealed: null }, $unset: { linkAt: '' } });
    },
    async report(joinId, report) {
      for (;;) {
        const before = await runs.findOne({ _id: joinId });
        if (before === null) return false;
        if (!mayMove(before.status, report.status)) return true;
        const outcome = await runs.updateOne({ _id: joinId, status: before.status }, { $set: reported(before, report) });
        if (outcome === 'updated') return true;
      }
    },
  };
};
