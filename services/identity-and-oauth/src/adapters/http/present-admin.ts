import type {
  AdminAccount,
  AdminChannel,
  AdminTeam,
  CreatedAccount as CreatedAccountAnswer,
  IssuedSession as IssuedSessionAnswer,
} from '@bubbles/contracts/internal/identity.ts';
import type { z } from 'zod';
import type { Account } from '../../domain/account.ts';
import type { Channel, Team } from '../../domain/team.ts';
import type { IssuedSession } from '../../domain/token.ts';
import type { CreatedAccount } from '../../use-cases/accounts.ts';
import { presentAccount, presentIssuedKey } from './present.ts';

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

export const presentChannel = ({ id, name, memberIds }: Channel): z.infer<typeof AdminChannel> => ({
  id,
  name,
  member_ids: memberIds && [...memberIds],
});

export const presentAdminTeam = ({
  id,
  name,
  plan,
  archived,
  domain,
  discoverable,
  createdAt,
  channels,
}: Team): z.infer<typeof AdminTeam> => ({
  id,
  name,
  plan,
  archived,
  domain,
  discoverable,
  created_at: createdAt.toISOString(),
  channels: channels.map(presentChannel),
});
