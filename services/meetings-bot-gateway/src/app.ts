import type { MeetingMetrics, ServedMedia, Simulator } from './ports.ts';
import { type CapturePorts, captureRecording, eraseRecording } from './use-cases/capture.ts';
import { followHints, type HintPorts, receiveProviderWebhook, sweepProviderEvents } from './use-cases/hints.ts';
import {
  endAnyJoin,
  endJoin,
  endJoinsOf,
  eraseLinks,
  type JoinPorts,
  listJoins,
  listJoinsOfAccount,
  listStuckJoins,
  readJoin,
  requestJoin,
} from './use-cases/joins.ts';
import { openMedia, removeMedia } from './use-cases/media.ts';
import { refundJoin, sweepQuotas } from './use-cases/quotas.ts';
import { listSimulatedRuns, reportSimulatedRun } from './use-cases/simulation.ts';
import { dispatchJoin, hastenJoins, letLeave, type WorkPorts, watchJoin } from './use-cases/work.ts';

interface AppPorts extends JoinPorts, WorkPorts, CapturePorts, HintPorts {
  /** Null where others serve the files. */
  readonly served: ServedMedia | null;
  readonly simulator: Simulator | null;
  readonly metrics: MeetingMetrics;
}

/** What the meetings bot gateway can do. */
export const createApp = (ports: AppPorts) => ({
  requestJoin: requestJoin(ports),
  readJoin: readJoin(ports),
  listJoins: listJoins(ports),
  listJoinsOfAccount: listJoinsOfAccount(ports),
  endJoin: endJoin(ports),
  endJoinsOf: endJoinsOf(ports),
  eraseLinks: eraseLinks(ports),
  endAnyJoin: endAnyJoin(ports),
  listStuckJoins: listStuckJoins(ports),

  dispatchJoin: dispatchJoin(ports),
  watchJoin: watchJoin(ports),
  letLeave: letLeave(ports),
  hastenJoins: hastenJoins(ports),
  captureRecording: captureRecording(ports),
  eraseRecording: eraseRecording(ports),
  openMedia: openMedia(ports),
  receiveProviderWebhook: receiveProviderWebhook(ports),
  followHints: followHints(ports),
  sweepProviderEvents: sweepProviderEvents(ports),
  removeMedia: removeMedia(ports),
  refundJoin: refundJoin(ports),
  sweepQuotas: sweepQuotas(ports),

  listSimulatedRuns: listSimulatedRuns(ports),
  reportSimulatedRun: reportSimulatedRun(ports),
});
export type App = ReturnType<typeof createApp>;
