import type { CalendarLinks } from '../calendar-ports.ts';
import type { Flow } from '../domain/flow.ts';
import { REFUSALS } from '../domain/texts.ts';
import type { MailedCodes } from '../ports.ts';
import { closeFlow, type FlowPorts, type IdentityPorts, ownFlow, provenAddress, requireStep, updateFlow } from './own-flow.ts';

export interface VerifyPorts extends IdentityPorts {
  readonly mailedCodes: MailedCodes;
}

/** Proves the address. Identity is asked after the right code alone, so that nobody else learns what is at an address. */
export const verifySignup =
  (ports: VerifyPorts) =>
  async (session: string, code: string): Promise<void> => {
    const flow = await ownFlow(ports, session);
    if (flow.state !== 'started') throw REFUSALS.codeUsed(flow);
    const whenRight = () => prove(ports, flow);
    const checked = await ports.mailedCodes.check({ flowId: flow.id, secret: session, code: code.replaceAll(/\s/g, ''), whenRight });
    if (checked === 'wrong') throw REFUSALS.wrongCode();
    const proven = await ownFlow(ports, session);
    if (checked === 'over') throw proven.state === 'started' ? REFUSALS.codeOver() : REFUSALS.codeUsed(proven);
  };

const prove = async (ports: VerifyPorts, flow: Flow): Promise<void> => {
  const { isClosed } = await ports.identity.lookUp(provenAddress(ports, flow));
  await updateFlow(ports, flow, (current) =>
    current.state === 'started' ? { ...current, state: isClosed ? 'closed' : 'verified' } : null,
  );
};

/** Those that the proven address may join. */
export const listWorkspaces =
  (ports: IdentityPorts) =>
  async (session: string): Promise<readonly { readonly id: string; readonly name: string }[]> => {
    const flow = await ownFlow(ports, session);
    requireStep('workspaces', flow);
    const { isClosed, workspaces } = await ports.identity.lookUp(provenAddress(ports, flow));
    if (isClosed) return closeFlow(ports, flow);
    await updateFlow(ports, flow, (current) => (current.state === 'verified' ? { ...current, state: 'listed' } : null));
    return workspaces;
  };

export interface CalendarPorts extends FlowPorts {
  readonly calendarLinks: Pick<CalendarLinks, 'linksFor'>;
}

/** Ends the flow, whether or not a calendar will be connected; answers where that is done. */
export const finishSignup =
  (ports: CalendarPorts) =>
  async (session: string): Promise<ReturnType<CalendarLinks['linksFor']>> => {
    const flow = await ownFlow(ports, session);
    requireStep('calendar', flow);
    if (flow.workspace === null) throw REFUSALS.outOfOrder('calendar', flow);
    const links = ports.calendarLinks.linksFor({
      flowId: flow.id,
      userId: flow.workspace.userId,
      address: flow.address,
      until: flow.expiresAt,
    });
    await updateFlow(ports, flow, (current) => (current.state === 'done' ? null : { ...current, state: 'done' }));
    return links;
  };
