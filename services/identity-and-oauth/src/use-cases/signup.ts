import type { Clock } from '@bubbles/kernel/clock.ts';
import { DomainError, isDomainError, refusal } from '@bubbles/kernel/errors.ts';
import { type Ids, seededIds } from '@bubbles/kernel/ids.ts';
import { mailboxOf } from '@bubbles/mail/address.ts';
import { type Account, isAdminOf, joined, type Membership } from '../domain/account.ts';
import { addressIn, domainsOf } from '../domain/address.ts';
import { hasHadTrial, isJoinable, openedTo, type Team } from '../domain/team.ts';
import { hashToken } from '../domain/token.ts';
import type { TeamStore } from '../ports.ts';
import { type AccountWriterPorts, openAccountAt } from './accounts.ts';
import { type AddressPorts, accountAt } from './addresses.ts';
import { withoutEvents } from './teams.ts';

/** Somebody who has read the mail that was sent to an address. */
interface ProvenAddress {
  readonly email: string;
  /** What companies call their own and the address is in; null when there is none. */
  readonly domain: string | null;
}

interface FlowStep {
  readonly flowId: string;
  readonly email: string;
}

interface SignupPorts extends AccountWriterPorts {
  readonly teams: TeamStore;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly trialMs: number;
}

/** More than anybody reads through. */
const MAX_WORKSPACES = 50;

/** What signup may tell the address of: the account that has it, if any, and the workspaces of its domain. Changes nothing. */
export const findWorkspaces =
  ({ teams, ...ports }: AddressPorts & Pick<SignupPorts, 'teams'>) =>
  async (proven: ProvenAddress): Promise<{ readonly account: Account | null; readonly workspaces: readonly Team[] }> => {
    const address = addressIn(proven);
    const [account, workspaces] = await Promise.all([
      accountAt(ports, address),
      teams.discoverable(domainsOf(address, proven.domain), MAX_WORKSPACES),
    ]);
    return { account, workspaces };
  };

interface JoinStep extends ProvenAddress {
  readonly teamId: string;
}

export const joinWorkspace =
  (ports: SignupPorts) =>
  async ({ teamId, ...proven }: JoinStep): Promise<{ readonly userId: string; readonly teamId: string }> => {
    const address = addressIn(proven);
    const team = await ports.teams.get(teamId);
    // One refusal for all, so that nobody learns of a team that is not theirs to see.
    if (!team || !isJoinable(team, domainsOf(address, proven.domain)))
      throw new DomainError('forbidden', 'This address may not join this workspace.');
    const found = await accountAt(ports, address);
    refuseClosed(found);
    if (hasHadTrial(team)) await ports.teams.claimTrial(mailboxOf(address), teamId);
    const userId = await enterTeam(ports, { found, address, teamId, role: 'member' });
    return { userId, teamId };
  };

/** One workspace a flow, however often it is asked for. Nobody sees the team before somebody is in it, so it is written first. */
export const createWorkspace =
  (ports: SignupPorts) =>
  async ({ flowId, email, name }: FlowStep & { readonly name: string }): Promise<{ readonly userId: string; readonly team: Team }> => {
    const { teams, clock } = ports;
    const address = addressIn({ email, domain: null });
    const { teamId, channelId } = idsOf(flowId);
    const found = await accountAt(ports, address);
    refuseClosed(found);
    const createdAt = clock.now();
    const team: Team = {
      id: teamId,
      name,
      plan: 'free',
      trialEndsAt: (await mayHaveTrial(ports, { found, address, teamId })) ? new Date(createdAt.getTime() + ports.trialMs) : null,
      archived: false,
      domain: null,
      discoverable: false,
      createdAt,
      channels: [{ id: channelId, name: 'general', memberIds: null }],
    };
    const made = (await teams.insert(team)) ? team : await teams.get(teamId);
    if (!made) throw new DomainError('internal', 'The team that was made is gone.');
    const userId = await enterTeam(ports, { found, address, teamId, role: 'admin' });
    return { userId, team: made };
  };

/** Each mailbox gets one trial, and an account in a team with a trial gets none. */
const mayHaveTrial = async (
  { teams, trialMs }: Pick<SignupPorts, 'teams' | 'trialMs'>,
  { found, address, teamId }: Pick<Entering, 'found' | 'address' | 'teamId'>,
): Promise<boolean> => {
  if (trialMs === 0) return false;
  const others = found === null ? [] : found.memberships.map((one) => one.teamId).filter((id) => id !== teamId);
  if ([...(await teams.byIds(others)).values()].some(hasHadTrial)) return false;
  return teams.claimTrial(mailboxOf(address), teamId);
};

/** Lets people of a domain into the workspace that the flow made. */
export const openForDomain =
  (ports: SignupPorts) =>
  async ({ flowId, email, domain }: FlowStep & { readonly domain: string }): Promise<{ readonly teamId: string }> => {
    const { teamId } = idsOf(flowId);
    const account = await accountAt(ports, addressIn({ email, domain }));
    refuseClosed(account);
    if (account === null || !isAdminOf(account, teamId)) throw mayNotOpen();
    const opened = await ports.teams.update(teamId, (team) => openedTo(team, domain));
    if (!opened || !isJoinable(opened, [domain])) throw mayNotOpen();
    return { teamId };
  };

/** The ids of what a flow makes: asked again, it finds what it has made. */
const idsOf = (flowId: string) => {
  const ids = seededIds(Buffer.from(hashToken(`signup flow ${flowId}`), 'hex'));
  return { teamId: ids.uuid(), channelId: ids.uuid() };
};

interface Entering extends Pick<Membership, 'teamId' | 'role'> {
  /** The account at the address; null when there is none yet. */
  readonly found: Account | null;
  readonly address: string;
}

/** An account that does not exist yet is made together with its membership. Answers its id. */
const enterTeam = async (ports: SignupPorts, { found, address, ...membership }: Entering): Promise<string> => {
  const { id } =
    found ?? (await openAccount(ports, { address, accountId: ports.ids.uuid(), memberships: [{ ...membership, hidden: false }] }));
  await ports.accounts.update(id, (account) => {
    refuseClosed(account);
    return withoutEvents(joined(account, membership));
  });
  return id;
};

const openAccount = async (ports: SignupPorts, account: Omit<Parameters<typeof openAccountAt>[1], 'name'>): Promise<Account> => {
  try {
    return await openAccountAt(ports, { ...account, name: null });
  } catch (error) {
    if (!isDomainError(error) || error.kind !== 'limit_reached') throw error;
    throw new DomainError('unavailable', 'The address is being moved to another account.', { cause: error, retryAfterSeconds: 60 });
  }
};

const refuseClosed = (account: Account | null): void => {
  if (account !== null && account.state !== 'active')
    throw refusal({ kind: 'forbidden', type: 'account_deleted', message: 'The account of this address is closed.' });
};
const mayNotOpen = () => new DomainError('forbidden', 'This address may not open this workspace to its domain.');
