import type { Clock } from '@bubbles/kernel/clock.ts';
import type { DomainLists } from '../address-ports.ts';
import { domainOf, type Flow, hashSession, isAllowed, type Step } from '../domain/flow.ts';
import { REFUSALS } from '../domain/texts.ts';
import type { FlowStore, Identity, ProvenAddress } from '../ports.ts';

export interface FlowPorts {
  readonly flows: FlowStore;
  readonly clock: Clock;
}

export interface IdentityPorts extends FlowPorts {
  readonly identity: Identity;
  readonly domainLists: DomainLists;
}

/** The flow whose session it is; an unknown and an expired one are refused alike. */
export const ownFlow = async ({ flows, clock }: FlowPorts, session: string): Promise<Flow> => {
  const flow = await flows.get(hashSession(session));
  if (flow === null || flow.expiresAt <= clock.now()) throw REFUSALS.unknownSession();
  if (flow.state === 'closed') throw REFUSALS.accountClosed();
  return flow;
};

/** Throws unless the flow is far enough for the step, and not too far. */
export const requireStep = (step: Step, flow: Flow): void => {
  if (flow.state === 'closed') throw REFUSALS.accountClosed();
  if (!isAllowed(step, flow)) throw REFUSALS.outOfOrder(step, flow);
};

/** Like `update` of the store, for a flow that was just read. */
export const updateFlow = async ({ flows }: FlowPorts, read: Flow, change: (flow: Flow) => Flow | null): Promise<Flow> => {
  const updated = await flows.update(read, change);
  if (updated === null) throw REFUSALS.unknownSession();
  return updated;
};

/** Ends a flow whose account was disabled, and throws. */
export const closeFlow = async (ports: FlowPorts, flow: Flow): Promise<never> => {
  await updateFlow(ports, flow, (current) => ({ ...current, state: 'closed' }));
  throw REFUSALS.accountClosed();
};

export const provenAddress = ({ domainLists }: IdentityPorts, flow: Flow): ProvenAddress => ({
  address: flow.address,
  domain: domainLists.companyDomain(domainOf(flow)),
});
