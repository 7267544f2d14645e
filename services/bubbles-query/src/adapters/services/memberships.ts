import { AccessResponse } from '@bubbles/contracts/internal/access.ts';
import type { InternalClient } from '@bubbles/http/client/internal-client.ts';
import { DomainError } from '@bubbles/kernel/errors.ts';
import type { Memberships } from '../../ports.ts';

const MembersAnswer = AccessResponse.pick({ users: true });

export const memberships = (identity: InternalClient): Memberships => ({
  async belongs(userId, teamId) {
    const body = { user_ids: [userId], team_ids: [] };
    const { users } = await identity.post('/internal/v1/access', { body, schema: MembersAnswer });
    const user = users.find(({ id }) => id === userId);
    if (user === undefined) throw new DomainError('unavailable', 'Incomplete answer from identity.');
    return user.memberships.some(({ team_id, hidden }) => team_id === teamId && !hidden);
  },
});
