import type { Clock } from '@bubbles/kernel/clock.ts';
import { foldAddress } from '@bubbles/mail/address.ts';
import type { Account, Membership } from '../domain/account.ts';
import { addressOf } from '../domain/address.ts';
import { hasPaidFeatures, type Team, type TeamsById, teamAt, visibleChannels } from '../domain/team.ts';
import type { AccountStore, AddressStore, TeamStore } from '../ports.ts';

interface MembershipAccess extends Membership {
  readonly visibleChannelIds: readonly string[];
}

export interface AccountAccess {
  readonly id: string;
  /** Null when there is no such account. */
  readonly account: Account | null;
  readonly paidFeatures: boolean;
  readonly memberships: readonly MembershipAccess[];
}

export interface TeamAccess {
  readonly id: string;
  /** Current team; null when there is none. */
  readonly team: Team | null;
}

interface Access {
  readonly accounts: readonly AccountAccess[];
  readonly teams: readonly TeamAccess[];
  readonly byEmail: readonly { readonly email: string; readonly access: AccountAccess }[];
}

interface AccessQuestion {
  readonly accountIds: readonly string[];
  readonly teamIds: readonly string[];
  /** In any spelling. */
  readonly emails: readonly string[];
}

/** The accounts that have these addresses; both the address and the account's profile must say so. */
const accountsByEmail = async (
  { accounts, addresses }: Omit<AccessPorts, 'clock'>,
  emails: readonly string[],
): Promise<ReadonlyMap<string, Account>> => {
  const folded = new Map(emails.map((email) => [email, foldAddress(email)]));
  const taken = await addresses.getEach([...folded.values()].filter((address) => address !== null));
  const owners = await accounts.byIds([...taken.values()].map(({ accountId }) => accountId));
  const found = new Map<string, Account>();
  for (const [email, address] of folded) {
    const owner = owners.get(taken.get(address ?? '')?.accountId ?? '');
    if (owner && addressOf(owner) === address) found.set(email, owner);
  }
  return found;
};

interface AccessPorts {
  readonly accounts: AccountStore;
  readonly teams: TeamStore;
  readonly addresses: AddressStore;
  readonly clock: Clock;
}

/** The live state of accounts and teams, in the order asked. */
export const readAccess =
  (ports: AccessPorts) =>
  async ({ accountIds, teamIds, emails }: AccessQuestion): Promise<Access> => {
    const accountsById = await ports.accounts.byIds(accountIds);
    const byEmail = emails.length === 0 ? new Map<string, Account>() : await accountsByEmail(ports, emails);
    const joined = [...accountsById.values(), ...byEmail.values()].flatMap(({ memberships }) => memberships.map(({ teamId }) => teamId));
    const teamsById = await ports.teams.byIds([...new Set([...teamIds, ...joined])]);
    const now = ports.clock.now();
    const accessOf = accessAt(now, teamsById);
    return {
      accounts: accountIds.map((id) => accessOf(id, accountsById.get(id) ?? null)),
      teams: teamIds.map((id) => ({ id, team: teamIn(teamsById, id, now) })),
      byEmail: [...byEmail].map(([email, account]) => ({ email, access: accessOf(account.id, account) })),
    };
  };

const teamIn = (teams: TeamsById, id: string, at: Date): Team | null => {
  const team = teams.get(id);
  return team ? teamAt(team, at) : null;
};

const accessAt =
  (at: Date, teams: TeamsById) =>
  (id: string, account: Account | null): AccountAccess => {
    if (!account) return { id, account, paidFeatures: false, memberships: [] };
    return {
      id,
      account,
      paidFeatures: hasPaidFeatures(account.memberships, teams, at),
      memberships: account.memberships.map((membership) => ({
        ...membership,
        visibleChannelIds: visibleIds(account.id, membership, teams),
      })),
    };
  };

const visibleIds = (userId: string, { teamId, role }: Membership, teams: TeamsById): readonly string[] => {
  const team = teams.get(teamId);
  return team ? visibleChannels(team, { userId, role }).map(({ id }) => id) : [];
};
