import { type CalendarConnectionPorts, checkGrant, checkGrantsOf, finishCalendarConsent, openCalendarLink } from './use-cases/calendar.ts';
import { type StartPorts, startSignup, sweepFlows } from './use-cases/start.ts';
import { type CalendarPorts, finishSignup, listWorkspaces, type VerifyPorts, verifySignup } from './use-cases/steps.ts';
import { sweepCreations, takeWorkspaceStep, type WorkspacePorts } from './use-cases/workspace-step.ts';

interface AppPorts extends StartPorts, VerifyPorts, WorkspacePorts, CalendarPorts, CalendarConnectionPorts {
  // Both name them, one in part.
  readonly calendarLinks: CalendarConnectionPorts['calendarLinks'];
}

/** What signup can do. */
export const createApp = (ports: AppPorts) => ({
  startSignup: startSignup(ports),
  verifySignup: verifySignup(ports),
  listWorkspaces: listWorkspaces(ports),
  takeWorkspaceStep: takeWorkspaceStep(ports),
  finishSignup: finishSignup(ports),

  openCalendarLink: openCalendarLink(ports),
  finishCalendarConsent: finishCalendarConsent(ports),
  checkGrantsOf: checkGrantsOf(ports),
  checkGrant: checkGrant(ports),

  sweepFlows: sweepFlows(ports),
  sweepCreations: sweepCreations(ports),
});
export type App = ReturnType<typeof createApp>;
