import { type Choice, type Created, type Flow, isSameChoice } from '../domain/flow.ts';
import { REFUSALS } from '../domain/texts.ts';
import type { CreationStore, ProvenAddress } from '../ports.ts';
import { closeFlow, type IdentityPorts, ownFlow, provenAddress, requireStep, updateFlow } from './own-flow.ts';

export interface WorkspacePorts extends IdentityPorts {
  readonly creations: CreationStore;
}

/** The first of several concurrent choices wins; requests with the same choice continue with it. */
const choose = (ports: IdentityPorts, flow: Flow, choice: Choice): Promise<Flow> =>
  updateFlow(ports, flow, (current) => {
    requireStep(choice.action, current);
    if (current.choice !== null && !isSameChoice(current.choice, choice)) throw REFUSALS.otherChoice();
    return current.choice === null ? { ...current, choice } : null;
  });

/** So that the user may choose another workspace. What was chosen meanwhile stays. */
const withdraw = (ports: IdentityPorts, flow: Flow, refused: Choice): Promise<Flow> =>
  updateFlow(ports, flow, (current) =>
    current.workspace === null && current.choice !== null && isSameChoice(current.choice, refused) ? { ...current, choice: null } : null,
  );

const place = (ports: IdentityPorts, flow: Flow, workspace: NonNullable<Flow['workspace']>): Promise<Flow> =>
  updateFlow(ports, flow, (current) =>
    current.workspace === null ? { ...current, workspace, state: workspace.created === null ? 'joined' : 'created' } : null,
  );

/** What came of the workspace step. */
export type WorkspaceStep =
  | { readonly action: 'join'; readonly teamId: string }
  | { readonly action: 'create'; readonly teamId: string; readonly created: Created; readonly proven: ProvenAddress }
  | { readonly action: 'enable_domain_join'; readonly teamId: string; readonly domain: string };

const join = async (ports: IdentityPorts, own: Flow, choice: Choice & { readonly action: 'join' }): Promise<WorkspaceStep> => {
  const flow = await choose(ports, own, choice);
  if (flow.workspace !== null) return choice;
  const joined = await ports.identity.join({ ...provenAddress(ports, flow), teamId: choice.teamId });
  if (joined === 'closed') return closeFlow(ports, flow);
  if (joined === 'forbidden') {
    await withdraw(ports, flow, choice);
    throw REFUSALS.notJoinable();
  }
  await place(ports, flow, { userId: joined.userId, teamId: choice.teamId, created: null });
  return choice;
};

/** Creates one workspace, whatever name later requests of the flow give it. */
const create = async (ports: WorkspacePorts, own: Flow, choice: Choice & { readonly action: 'create' }): Promise<WorkspaceStep> => {
  const flow = await choose(ports, own, choice);
  const { name } = flow.choice?.action === 'create' ? flow.choice : choice;
  const workspace = flow.workspace ?? (await createdFor(ports, flow, name));
  if (workspace.created === null) throw REFUSALS.otherChoice();
  return { action: 'create', teamId: workspace.teamId, created: workspace.created, proven: provenAddress(ports, flow) };
};

const createdFor = async (ports: WorkspacePorts, flow: Flow, chosenName: string): Promise<NonNullable<Flow['workspace']>> => {
  const creation = { flowId: flow.id, name: chosenName, expiresAt: flow.expiresAt };
  const { flowId, name } = await ports.creations.claim(flow.address, creation, ports.clock.now());
  const made = await ports.identity.create({ address: flow.address, flowId, name });
  if (made === 'closed') return closeFlow(ports, flow);
  const { userId, teamId, trialEndsAt } = made;
  const workspace = { userId, teamId, created: { name, trialEndsAt, flowId } };
  await place(ports, flow, workspace);
  return workspace;
};

/** Lets the people of the user's company into the workspace that the flow created. Accepted once. */
const openForDomain = async (ports: IdentityPorts, flow: Flow): Promise<WorkspaceStep> => {
  requireStep('open', flow);
  const { address, domain } = provenAddress(ports, flow);
  const { workspace } = flow;
  if (domain === null || !workspace?.created) throw REFUSALS.noCompanyDomain();
  const opened = await ports.identity.openForDomain({ address, domain, flowId: workspace.created.flowId });
  if (opened === 'closed') return closeFlow(ports, flow);
  if (opened === 'forbidden') throw REFUSALS.noCompanyDomain();
  await updateFlow(ports, flow, (current) => {
    // The calendar step may have been taken meanwhile.
    if (current.openedTo !== null) requireStep('open', current);
    return { ...current, openedTo: domain };
  });
  return { action: 'enable_domain_join', teamId: workspace.teamId, domain };
};

/** What is asked of the workspace step. */
export type WorkspaceRequest = Choice | { readonly action: 'enable_domain_join' };

/** Puts the user into a workspace, whose account is made with it where there is none; or opens the workspace to their colleagues. */
export const takeWorkspaceStep =
  (ports: WorkspacePorts) =>
  async (session: string, request: WorkspaceRequest): Promise<WorkspaceStep> => {
    const flow = await ownFlow(ports, session);
    switch (request.action) {
      case 'join':
        return join(ports, flow, request);
      case 'create':
        return create(ports, flow, request);
      case 'enable_domain_join':
        return openForDomain(ports, flow);
    }
  };

export const sweepCreations =
  ({ creations, clock }: Pick<WorkspacePorts, 'creations' | 'clock'>) =>
  (): Promise<void> =>
    creations.forgetExpired(clock.now());
