import { DomainError } from '@bubbles/kernel/errors.ts';
import type { Join } from '../domain/join.ts';
import type { SimulatedReport, SimulatedRun, Simulator } from '../ports.ts';
import { hearOf, type WorkPorts } from './work.ts';

interface SimulationPorts extends Pick<WorkPorts, 'joins' | 'joinAdvanced' | 'clock' | 'notetakers' | 'wakeCapture'> {
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

/** The simulated provider reports, and the join hears of it as of any provider. */
export const reportSimulatedRun = (ports: SimulationPorts) => {
  const hear = hearOf(ports);
  return async (joinId: string, report: SimulatedReport): Promise<Join> => {
    const isKnown = await requireSimulator(ports.simulator).report(joinId, report);
    const join = isKnown ? await hear(joinId) : null;
    if (join === null) throw new DomainError('not_found', 'No notetaker was sent for such a join.');
    return join;
  };
};
