import { type StartPorts, startSignup, sweepFlows } from './use-cases/start.ts';
import { type CalendarPorts, finishSignup, listWorkspaces, type VerifyPorts, verifySignup } from './use-cases/steps.ts';
import { sweepCreations, takeWorkspaceStep, type WorkspacePorts } from './use-cases/workspace-step.ts';

interface AppPorts extends StartPorts, VerifyPorts, WorkspacePorts, CalendarPorts {}

/** What signup can do. */
export const createApp = (ports: AppPorts) => ({
  startSignup: startSignup(ports),
  verifySignup: verifySignup(ports),
  listWorkspaces: listWorkspaces(ports),
  takeWorkspaceStep: takeWorkspaceStep(ports),
  finishSignup: finishSignup(ports),

  sweepFlows: sweepFlows(ports),
  sweepCreations: sweepCreations(ports),
});
export type App = ReturnType<typeof createApp>;
