import { AccessResponse } from '@bubbles/contracts/internal/access.ts';
import type { InternalClient } from '@bubbles/shared/http/internal-client.ts';
import type { Access } from '../../ports.ts';

export const access = (identity: InternalClient): Access => ({
  async ask({ userIds, teamIds }) {
    const body = { user_ids: userIds, team_ids: teamIds };
    const { users, teams } = await identity.post('/internal/v1/access', { body, schema: AccessResponse });
    return {
      users: new Map(
        users.map(({ id, state, paid_features, memberships }) => [
          id,
          {
            active: state === 'active',
            pays: paid_features,
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
