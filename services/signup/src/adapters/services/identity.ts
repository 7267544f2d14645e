import { UserAccess } from '@bubbles/contracts/internal/identity.ts';
import { SIGNUP_CALLS } from '@bubbles/contracts/internal/identity-signup.ts';
import { CallRefused, type InternalClient } from '@bubbles/http/client/internal-client.ts';
import { DomainError, isDomainError } from '@bubbles/kernel/errors.ts';
import { type ZodType, z } from 'zod';
import type { AccountStateOf } from '../../calendar-ports.ts';
import type { Identity } from '../../ports.ts';

const REFUSALS = { account_deleted: 'closed', forbidden: 'forbidden' } as const;
type Refused = keyof typeof REFUSALS;

/** What identity refuses for reasons of the address or the team, when it is one of those that are expected; any other failure goes on. */
const orRefused = async <T, R extends Refused>(asked: Promise<T>, expected: readonly R[]): Promise<T | (typeof REFUSALS)[R]> => {
  try {
    return await asked;
  } catch (error) {
    const cause = isDomainError(error) ? error.cause : null;
    const refused = cause instanceof CallRefused && cause.status === 403 ? expected.find((type) => type === cause.type) : undefined;
    if (refused === undefined) throw error;
    return REFUSALS[refused];
  }
};

const CLOSED = ['account_deleted'] as const;
const CLOSED_OR_FORBIDDEN = ['account_deleted', 'forbidden'] as const;

export const createIdentity = (identity: InternalClient): Identity => {
  const ask = <T>({ path, response: schema }: { readonly path: string; readonly response: ZodType<T> }, body: unknown) =>
    identity.post(path, { body, schema });
  return {
    async lookUp({ address, domain }) {
      const { account, workspaces } = await ask(SIGNUP_CALLS.account, { email: address, domain });
      return { isClosed: account !== null && account.state !== 'active', workspaces };
    },
    async join({ address, domain, teamId }) {
      const body = { email: address, domain, team_id: teamId };
      const joined = await orRefused(ask(SIGNUP_CALLS.join, body), CLOSED_OR_FORBIDDEN);
      return typeof joined === 'string' ? joined : { userId: joined.user_id };
    },
    async create({ flowId, address, name }) {
      const made = await orRefused(ask(SIGNUP_CALLS.create, { flow_id: flowId, email: address, name }), CLOSED);
      if (made === 'closed') return made;
      return { userId: made.user_id, teamId: made.team_id, trialEndsAt: made.trial_ends_at === null ? null : new Date(made.trial_ends_at) };
    },
    async openForDomain({ flowId, address, domain }) {
      const opened = await orRefused(ask(SIGNUP_CALLS.domainJoin, { flow_id: flowId, email: address, domain }), CLOSED_OR_FORBIDDEN);
      return typeof opened === 'string' ? opened : 'opened';
    },
  };
};

export const AccountStates = z.object({ users: z.array(UserAccess.pick({ id: true, state: true, life: true })) });

export const createAccountStateOf =
  (identity: InternalClient): AccountStateOf =>
  async (userId) => {
    const body = { user_ids: [userId], team_ids: [] };
    const { users } = await identity.post('/internal/v1/access', { body, schema: AccountStates });
    const user = users.find(({ id }) => id === userId);
    if (user === undefined) throw new DomainError('unavailable', 'Incomplete answer from identity.');
    return { isActive: user.state === 'active', life: user.life ?? 1 };
  };
