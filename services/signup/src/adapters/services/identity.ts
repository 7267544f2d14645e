import { CallRefused, type InternalClient } from '@bubbles/http/client/internal-client.ts';
import { DomainError, isDomainError } from '@bubbles/kernel/errors.ts';
import { type ZodType, z } from 'zod';
import type { AccountStateOf } from '../../calendar-ports.ts';
import type { Identity } from '../../ports.ts';

const AccountAnswer = z.object({
  account: z.object({ state: z.string() }).nullable(),
  workspaces: z.array(z.object({ id: z.string(), name: z.string() })),
});
const JoinAnswer = z.object({ user_id: z.string() });
const CreateAnswer = z.object({ user_id: z.string(), team_id: z.string(), trial_ends_at: z.iso.datetime({ offset: true }).nullable() });
/** The status alone tells that it is done. */
const DomainJoinAnswer = z.object({});
const StateAnswer = z.object({ users: z.array(z.object({ id: z.string(), state: z.string(), life: z.int().positive().optional() })) });

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
  const ask = <T>(step: string, body: unknown, schema: ZodType<T>) => identity.post(`/internal/v1/signup/${step}`, { body, schema });
  return {
    async lookUp({ address, domain }) {
      const { account, workspaces } = await ask('account', { email: address, domain }, AccountAnswer);
      return { isClosed: account !== null && account.state !== 'active', workspaces };
    },
    async join({ address, domain, teamId }) {
      const body = { email: address, domain, team_id: teamId };
      const joined = await orRefused(ask('join', body, JoinAnswer), CLOSED_OR_FORBIDDEN);
      return typeof joined === 'string' ? joined : { userId: joined.user_id };
    },
    async create({ flowId, address, name }) {
      const made = await orRefused(ask('create', { flow_id: flowId, email: address, name }, CreateAnswer), CLOSED);
      if (made === 'closed') return made;
      return { userId: made.user_id, teamId: made.team_id, trialEndsAt: made.trial_ends_at === null ? null : new Date(made.trial_ends_at) };
    },
    async openForDomain({ flowId, address, domain }) {
      const opened = await orRefused(
        ask('domain-join', { flow_id: flowId, email: address, domain }, DomainJoinAnswer),
        CLOSED_OR_FORBIDDEN,
      );
      return typeof opened === 'string' ? opened : 'opened';
    },
  };
};

export const createAccountStateOf =
  (identity: InternalClient): AccountStateOf =>
  async (userId) => {
    const body = { user_ids: [userId], team_ids: [] };
    const { users } = await identity.post('/internal/v1/access', { body, schema: StateAnswer });
    const user = users.find(({ id }) => id === userId);
    if (user === undefined) throw new DomainError('unavailable', 'Incomplete answer from identity.');
    return { isActive: user.state === 'active', life: user.life ?? 1 };
  };
