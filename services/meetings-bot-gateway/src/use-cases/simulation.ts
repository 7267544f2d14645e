import { DomainError } from '@bubbles/kernel/errors.ts';
import { type Join, newMedia, withMedia } from '../domain/join.ts';
import type { SimulatedReport, SimulatedRun, Simulator } from '../ports.ts';
import type { CapturePorts } from './capture.ts';
import { hearOf, type WorkPorts } from './work.ts';

interface SimulationPorts
  extends Pick<WorkPorts, 'joins' | 'joinAdvanced' | 'clock' | 'notetakers' | 'wakeCapture'>,
    Pick<CapturePorts, 'ids' | 'mediaUrl'> {
  /** Null where no platform is served by it. */
  readonly simulator: Simulator | null;
}

interface ListedRun extends SimulatedRun {
  readonly teamId: string;
}

const requireSimulator = (simulator: Simulator | null): Simulator => {
  if (simulator === null) throw new DomainError('not_found', 'No platform is served by the simulated provider: set NOTETAKERS.');
  return simulator;
};

export const listSimulatedRuns =
  ({ simulator, joins }: SimulationPorts) =>
  async (): Promise<readonly ListedRun[]> => {
    const runs = await requireSimulator(simulator).runs();
    const known = await joins.byIds(runs.map(({ joinId }) => joinId));
    return runs.flatMap((run) => {
      const join = known.get(run.joinId);
      return join === undefined ? [] : [{ ...run, teamId: join.teamId }];
    });
  };

/** The simulated provider reports, and the join hears of it as of any provider. Where its file will be reached is known from then on. */
export const reportSimulatedRun = (ports: SimulationPorts) => {
  const { joins, ids, mediaUrl } = ports;
  const hear = hearOf(ports);
  return async (joinId: string, report: SimulatedReport): Promise<{ readonly join: Join; readonly videoUrl: string | null }> => {
    const isKnown = await requireSimulator(ports.simulator).report(joinId, report);
    const heard = isKnown ? await hear(joinId) : null;
    const hasFile = heard?.status === 'done' && heard.bubbleId === null && report.hasVideo;
    const join = hasFile ? await joins.update(joinId, (before) => withPlace(before, ids)) : heard;
    if (join === null) throw new DomainError('not_found', 'No notetaker was sent for such a join.');
    return { join, videoUrl: join.media === undefined ? null : mediaUrl(join.media.key) };
  };
};

/** The place that its capture copies to; none when it has one, or was captured meanwhile. */
const withPlace = (join: Join, ids: SimulationPorts['ids']) =>
  join.media !== undefined || join.work !== 'capture' ? null : { state: withMedia(join, newMedia(ids)), events: [] };
