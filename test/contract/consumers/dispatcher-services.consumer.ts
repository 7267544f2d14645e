import { createInternalClient } from '@bubbles/http/client/internal-client.ts';
import { createAccess, createReadability } from '@bubbles/webhooks-dispatcher/adapters/services/peers.ts';
import { describe, expect, it } from '@jest/globals';
import { Matchers } from '@pact-foundation/pact';
import { BUBBLE_ID, CHANNEL_ID, TEAM_ID, USER_ID } from '../examples.ts';
import { calledBy, pactBetween, readBy, tokensOf } from '../pacts.ts';

const CONSUMER = 'webhooks-dispatcher';

const clientOf = (callee: string, url: string) => createInternalClient({ callee, baseUrls: [url], tokens: tokensOf(CONSUMER) });

describe('the dispatcher asks before each attempt', () => {
  it('[EVT-03] identity, whether the owner is active and who pays', async () => {
    const asked = { userIds: [USER_ID], teamIds: [TEAM_ID] };
    const memberships = [{ team_id: TEAM_ID, hidden: false, visible_channel_ids: [CHANNEL_ID] }];
    const { body, rules } = await readBy((client) => createAccess(client).ask(asked), {
      users: [{ id: USER_ID, state: 'active', paid_features: true, life: 1, memberships }],
      teams: [{ id: TEAM_ID, plan: 'pro', archived: false }],
    });
    await pactBetween(CONSUMER, 'identity-and-oauth')
      .addInteraction()
      .given('a member of a team with a channel')
      .uponReceiving('a question about the access of a user and a team')
      .withRequest('POST', '/internal/v1/access', (request) => {
        request.headers(calledBy(CONSUMER)).jsonBody({
          user_ids: [Matchers.fromProviderState('user_id', USER_ID)],
          team_ids: [Matchers.fromProviderState('team_id', TEAM_ID)],
        });
      })
      .willRespondWith(200, (response) => {
        response.jsonBody(body).matchingRules({ body: [...rules] });
      })
      .executeTest(async ({ url }) => {
        const { users, teams } = await createAccess(clientOf('identity-and-oauth', url)).ask(asked);
        expect(users.get(USER_ID)).toMatchObject({ active: true, pays: true, life: 1 });
        expect(teams.get(TEAM_ID)).toEqual({ plan: 'pro', archived: false });
      });
  });

  it('[EVT-03] bubbles-query, whether the owner still takes part and may read', async () => {
    const bubble = { team_id: TEAM_ID, channel_id: CHANNEL_ID, author_id: USER_ID };
    const answer = { bubble_id: BUBBLE_ID, user_id: USER_ID, participates: true, bubble };
    const asked = [{ userId: USER_ID, bubbleId: BUBBLE_ID }];
    const { body, rules } = await readBy((client) => createReadability(client).ask(asked), { answers: [answer] });
    await pactBetween(CONSUMER, 'bubbles-query')
      .addInteraction()
      .given('a bubble with a participant')
      .uponReceiving('a question whether a participant may read a bubble')
      .withRequest('POST', '/internal/v1/readable', (request) => {
        request.headers(calledBy(CONSUMER)).jsonBody({ pairs: [{ user_id: USER_ID, bubble_id: BUBBLE_ID }] });
      })
      .willRespondWith(200, (response) => {
        response.jsonBody(body).matchingRules({ body: [...rules] });
      })
      .executeTest(async ({ url }) => {
        const answers = await createReadability(clientOf('bubbles-query', url)).ask(asked);
        expect(answers).toEqual([{ participates: true, bubble: { teamId: TEAM_ID, channelId: CHANNEL_ID, authorId: USER_ID } }]);
      });
  });
});
