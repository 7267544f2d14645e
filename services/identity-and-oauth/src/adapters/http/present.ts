import { RATE_LIMIT } from '@bubbles/contracts/access.ts';
import type { ApiKeyCreated, ApiKeySummary } from '@bubbles/contracts/api/api-key.ts';
import type { Team as ApiTeam, User } from '@bubbles/contracts/api/user.ts';
import type {
  AccountFacts,
  AdminAccount,
  AdminChannel,
  AdminTeam,
  CheckResult as CheckResultAnswer,
  CreatedAccount as CreatedAccountAnswer,
  IssuedSession as IssuedSessionAnswer,
  TeamAccess as TeamAccessAnswer,
  UserAccess,
} from '@bubbles/contracts/internal/identity.ts';
import type { z } from 'zod';
import { type Account, lifeOf } from '../../domain/account.ts';
import type { CheckResult } from '../../domain/credential.ts';
import type { Channel, Team } from '../../domain/team.ts';
import type { IssuedKey, IssuedSession } from '../../domain/token.ts';
import type { AccountAccess, TeamAccess } from '../../use-cases/access.ts';
import type { CreatedAccount } from '../../use-cases/accounts.ts';
import type { ListedKey } from '../../use-cases/keys.ts';
import type { TeamOfCaller } from '../../use-cases/teams.ts';

export const presentUser = ({ id, email, name, pictureUrl }: Account): User => ({ id, email, name, picture_url: pictureUrl });

export const presentAccount = (account: Account): AccountFacts => ({
  user_id: account.id,
  state: account.state,
  name: account.name,
  email: account.email,
  picture_url: account.pictureUrl,
  revision: account.revision,
});

export const presentTeam = ({ team, role, channels }: TeamOfCaller): ApiTeam => ({
  id: team.id,
  name: team.name,
  plan: team.plan,
  role,
  channels: channels.map(({ id, name }) => ({ id, name })),
});

export const presentIssuedKey = ({ key, token }: IssuedKey): ApiKeyCreated => ({
  id: key.id,
  name: key.name,
  token,
  token_preview: key.preview,
  created_at: key.createdAt.toISOString(),
});

export const presentListedKey = (key: ListedKey): ApiKeySummary => ({
  id: key.id,
  name: key.name,
  token_preview: key.preview,
  created_at: key.createdAt.toISOString(),
  last_used_at: key.lastUsedAt?.toISOString() ?? null,
});

export const presentCheck = (h: string, result: CheckResult<{ readonly assertion: string }>): CheckResultAnswer => {
  if (result.outcome === 'refused') return { h, outcome: 'refused', type: result.refusal };
  const { remaining, resetSeconds } = result.budget;
  const budget = { limit: RATE_LIMIT, remaining, reset_seconds: resetSeconds };
  if (result.outcome === 'limited') return { h, outcome: 'limited', retry_after_seconds: resetSeconds, ...budget };
  return { h, outcome: 'allowed', assertion: result.assertion, ...budget };
};

export const presentAccountAccess = ({ id, account, paidFeatures, memberships }: AccountAccess): UserAccess => ({
  id,
  state: account?.state ?? 'unknown',
  paid_features: paidFeatures,
  life: account ? lifeOf(account) : 1,
  memberships: memberships.map(({ teamId, role, hidden, visibleChannelIds }) => ({
    team_id: teamId,
    role,
    hidden,
    visible_channel_ids: [...visibleChannelIds],
  })),
});

export const presentTeamAccess = ({ id, team }: TeamAccess): TeamAccessAnswer => ({
  id,
  known: team !== null,
  plan: team?.plan ?? 'free',
  archived: team?.archived ?? true,
  channel_ids: team?.channels.map((channel) => channel.id) ?? [],
});

export const presentAdminAccount = (account: Account): z.infer<typeof AdminAccount> => ({
  ...presentAccount(account),
  created_at: account.createdAt.toISOString(),
  memberships: account.memberships.map(({ teamId, role, hidden }) => ({ team_id: teamId, role, hidden })),
  active_keys: account.keys.map(({ id, name, preview, createdAt }) => ({
    id,
    name,
    token_preview: preview,
    created_at: createdAt.toISOString(),
  })),
});

export const presentSession = ({ session, token }: IssuedSession): z.infer<typeof IssuedSessionAnswer> => ({
  id: session.id,
  session_token: token,
  expires_at: session.expiresAt.toISOString(),
});

export const presentCreatedAccount = ({ account, session, key }: CreatedAccount): z.infer<typeof CreatedAccountAnswer> => ({
  account: presentAdminAccount(account),
  session: presentSession(session),
  key: key && presentIssuedKey(key),
});

/** A name is told in any case: one that has none goes by its domain. */
export const presentWorkspace = ({ id, name, domain }: Team) => ({ id, name: name ?? domain ?? id });

export const presentChannel = ({ id, name, memberIds }: Channel): z.infer<typeof AdminChannel> => ({
  id,
  name,
  member_ids: memberIds && [...memberIds],
});

export const presentAdminTeam = ({
  id,
  name,
  plan,
  trialEndsAt,
  archived,
  domain,
  discoverable,
  createdAt,
  channels,
}: Team): z.infer<typeof AdminTeam> => ({
  id,
  name,
  plan,
  trial_ends_at: trialEndsAt?.toISOString() ?? null,
  archived,
  domain,
  discoverable,
  created_at: createdAt.toISOString(),
  channels: channels.map(presentChannel),
});
