import type { AccountState, Role } from '@bubbles/contracts/access.ts';
import { DomainError } from '@bubbles/kernel/errors.ts';

export interface Membership {
  readonly teamId: string;
  readonly role: Role;
  /** Joined through a public link. */
  readonly hidden: boolean;
}

/** A personal access token that works. Its text exists only in the answer that created it. */
export interface ActiveKey {
  readonly id: string;
  /** Lower-case hex SHA-256 of the token. */
  readonly hash: string;
  readonly name: string;
  readonly preview: string;
  readonly createdAt: Date;
}

export interface Profile {
  readonly name: string | null;
  readonly email: string | null;
  readonly pictureUrl: string | null;
}

export interface Account extends Profile {
  readonly id: string;
  readonly state: AccountState;
  /** Rises with every change of state or profile; the newest wins in projections. */
  readonly revision: number;
  readonly createdAt: Date;
  readonly memberships: readonly Membership[];
  readonly keys: readonly ActiveKey[];
  /** Rises when a deleted account is opened again: nothing of an earlier life counts. Absent in accounts of an older release. */
  readonly life?: number;
}

const FIRST_LIFE = 1;
/** The life of an account, or the one in which something of it was made. */
export const lifeOf = ({ life = FIRST_LIFE }: { readonly life?: number }): number => life;

/** What belongs to one life of an account for a time: a session, a grant. */
export interface BoundToLife {
  readonly id: string;
  readonly accountId: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  /** Life of the account at creation of the session; absent in sessions of older releases. */
  readonly life?: number;
}

export interface VersionedAccount {
  readonly account: Account;
  /** Version of the account document: incremented by every change of state, profile, keys or memberships. */
  readonly accountVersion: number;
}

interface NewAccount {
  readonly id: string;
  readonly profile: Profile;
  readonly keys: readonly ActiveKey[];
  readonly memberships?: readonly Membership[];
  readonly createdAt: Date;
}

export const newAccount = ({ id, profile, keys, memberships = [], createdAt }: NewAccount): Account => ({
  id,
  state: 'active',
  name: profile.name,
  email: profile.email,
  pictureUrl: profile.pictureUrl,
  revision: 1,
  createdAt,
  memberships,
  keys,
  life: FIRST_LIFE,
});

const ANONYMOUS: Profile = { name: null, email: null, pictureUrl: null };

const revised = (account: Account, change: Partial<Profile & Pick<Account, 'state' | 'life' | 'keys' | 'memberships'>>): Account | null => {
  const next = { ...account, ...change, revision: account.revision + 1 };
  const same = (['state', 'name', 'email', 'pictureUrl'] as const).every((field) => next[field] === account[field]);
  return same ? null : next;
};

/** Null when nothing differs. A deleted account stays anonymous. */
export const withProfile = (account: Account, profile: Partial<Profile>): Account | null => {
  if (account.state === 'deleted') throw new DomainError('invalid', 'A deleted account has no profile.');
  return revised(account, profile);
};

const reopens = (account: Account, state: AccountState): boolean => account.state === 'deleted' && state !== 'deleted';

/** The keys that end with the change to this state. */
export const keysEndedBy = (account: Account, state: AccountState): readonly ActiveKey[] => (reopens(account, state) ? account.keys : []);

/**
 * Null when the account is in that state already. Deleting forgets who it was; keys and memberships stay until it is opened again, so that the use of a
 * key is told from that of an unknown token.
 */
export const inState = (account: Account, state: AccountState): Account | null => {
  if (reopens(account, state)) return revised(account, { state, life: lifeOf(account) + 1, keys: [], memberships: [] });
  return revised(account, state === 'deleted' ? { state, ...ANONYMOUS } : { state });
};

/** An existing membership keeps its place, so that the order of joining stays. Null when nothing differs. */
export const withMembership = (account: Account, membership: Membership): Account | null => {
  const current = membershipIn(account, membership.teamId);
  if (current?.role === membership.role && current.hidden === membership.hidden) return null;
  const memberships = current
    ? account.memberships.map((one) => (one.teamId === membership.teamId ? membership : one))
    : [...account.memberships, membership];
  return { ...account, memberships };
};

/**
 * In the team with this role if it was not there. A guest becomes a member, and a hidden membership shows; who is admin or member already stays it. Null when
 * nothing differs.
 */
export const joined = (account: Account, { teamId, role }: Pick<Membership, 'teamId' | 'role'>): Account | null => {
  const current = membershipIn(account, teamId);
  const kept = current?.role === 'guest' ? 'member' : current?.role;
  return withMembership(account, { teamId, role: kept ?? role, hidden: false });
};

export const isAdminOf = (account: Account, teamId: string): boolean => membershipIn(account, teamId)?.role === 'admin';

/** Null when there is no such membership. */
export const withoutMembership = (account: Account, teamId: string): Account | null =>
  membershipIn(account, teamId) ? { ...account, memberships: account.memberships.filter((one) => one.teamId !== teamId) } : null;

const membershipIn = (account: Pick<Account, 'memberships'>, teamId: string): Membership | null =>
  account.memberships.find((one) => one.teamId === teamId) ?? null;
