import { AccessResponse } from '@bubbles/contracts/internal/identity.ts';
import type { InternalClient } from '@bubbles/http/client/internal-client.ts';
import { DomainError } from '@bubbles/kernel/errors.ts';
import { FIRST_LIFE } from '../../domain/subscription.ts';
import type { Access } from '../../ports.ts';

const namesAll = (answers: readonly { readonly id: string }[], ids: readonly string[]): boolean => {
  const named = new Set(answers.map(({ id }) => id));
  return ids.every((id) => named.has(id));
};

export const access = (identity: InternalClient): Access => ({
  async ask({ userIds, teamIds }) {
    const body = { user_ids: userIds, team_ids: teamIds };
    const { users, teams } = await identity.post('/internal/v1/access', { body, schema: AccessResponse });
    // Identity also lists ids that it does not know: an id that is missing from the answer proves nothing, so nothing may end because of it.
    if (!namesAll(users, userIds) || !namesAll(teams, teamIds)) throw new DomainError('unavailable', 'Incomplete answer from identity.');
    return {
      users: new Map(
        users.map(({ id, state, paid_features, life = FIRST_LIFE, memberships }) => [
          id,
          {
            active: state === 'active',
            pays: paid_features,
            life,
            memberships: memberships.map(({ team_id, hidden, visible_channel_ids }) => ({
              teamId: team_id,
              hidden,
              channelIds: visible_channel_ids,
            })),
          },
        ]),
      ),
      teams: new Map(teams.map(({ id, plan, archived }) => [id, { plan, archived }])),
    };
  },
});
