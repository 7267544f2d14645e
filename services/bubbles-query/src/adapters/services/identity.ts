import type { InternalClient } from '@bubbles/http/client/internal-client.ts';
import { DomainError } from '@bubbles/kernel/errors.ts';
import { z } from 'zod';
import type { Identity } from '../../ports.ts';

const ACCOUNTS_PER_PAGE = 500;
const Members = z.object({
  users: z.array(z.object({ id: z.string(), memberships: z.array(z.object({ team_id: z.string(), hidden: z.boolean() })) })),
});
const Account = z.object({ user_id: z.string(), name: z.string().nullable(), email: z.string().nullable(), revision: z.int().positive() });
const Snapshot = z.object({ version: z.literal(1), accounts: z.array(Account), next_after: z.string().nullable() });

export const createIdentity = (client: InternalClient): Identity => ({
  async belongs(userId, teamId) {
    const body = { user_ids: [userId], team_ids: [] };
    const { users } = await client.post('/internal/v1/access', { body, schema: Members });
    const user = users.find(({ id }) => id === userId);
    if (user === undefined) throw new DomainError('unavailable', 'Incomplete answer from identity.');
    return user.memberships.some(({ team_id, hidden }) => team_id === teamId && !hidden);
  },
  async accounts(after) {
    const query = new URLSearchParams({ limit: String(ACCOUNTS_PER_PAGE), ...(after === null ? {} : { after }) });
    const snapshot = await client.get(`/internal/v1/accounts?${query}`, { schema: Snapshot });
    const people = snapshot.accounts.map(({ user_id, name, email, revision }) => ({ id: user_id, name, email, revision }));
    return { people, nextAfter: snapshot.next_after };
  },
});
