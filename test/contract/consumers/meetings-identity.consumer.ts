import { AccountChangedV1 } from '@bubbles/contracts/events/service-events.ts';
import { AccessResponse } from '@bubbles/contracts/internal/identity.ts';
import { createInternalClient } from '@bubbles/http/client/internal-client.ts';
import { eventHandlers } from '@bubbles/meetings-bot-gateway/adapters/bus/event-handlers.ts';
import { createAccess } from '@bubbles/meetings-bot-gateway/adapters/services/access.ts';
import type { App } from '@bubbles/meetings-bot-gateway/app.ts';
import { describe, expect, it } from '@jest/globals';
import { Matchers } from '@pact-foundation/pact';
import { CHANNEL_ID, TEAM_ID, USER_ID } from '../examples.ts';
import { expecting } from '../expecting.ts';
import { expectMessage } from '../messages.ts';
import { calledBy, pactBetween, tokensOf } from '../pacts.ts';

const CONSUMER = 'meetings-bot-gateway';
const PROVIDER = 'identity-and-oauth';
const EMAIL = 'ada@acme.test';

const user = {
  id: USER_ID,
  state: 'active' as const,
  paid_features: true,
  life: 1,
  memberships: [{ team_id: TEAM_ID, role: 'member' as const, hidden: false, visible_channel_ids: [CHANNEL_ID] }],
};

describe('meetings asks identity', () => {
  it('[MEET-03][MEET-09] who may record for a team, and whose account an address is', async () => {
    const team = { id: TEAM_ID, known: true, plan: 'pro' as const, archived: false, channel_ids: [CHANNEL_ID] };
    const { body, rules } = expecting(AccessResponse, { users: [user], teams: [team], by_email: [{ email: EMAIL, user }] });
    await pactBetween(CONSUMER, PROVIDER)
      .addInteraction()
      .given('a member of a team with a channel')
      .uponReceiving('a question about a user, a team and an address')
      .withRequest('POST', '/internal/v1/access', (request) => {
        request.headers(calledBy(CONSUMER)).jsonBody({
          user_ids: [Matchers.fromProviderState('user_id', USER_ID)],
          team_ids: [Matchers.fromProviderState('team_id', TEAM_ID)],
          emails: [Matchers.fromProviderState('email', EMAIL)],
        });
      })
      .willRespondWith(200, (response) => {
        response.jsonBody(body).matchingRules({ body: [...rules] });
      })
      .executeTest(async ({ url }) => {
        const identity = createInternalClient({ callee: PROVIDER, baseUrls: [url], tokens: tokensOf(CONSUMER) });
        const { users, teams, byEmail } = await createAccess(identity).ask({ userIds: [USER_ID], teamIds: [TEAM_ID], emails: [EMAIL] });
        const known = { id: USER_ID, active: true, life: 1, memberships: [{ teamId: TEAM_ID, role: 'member', hidden: false }] };
        expect([users.get(USER_ID), byEmail.get(EMAIL)]).toEqual([known, known]);
        expect(teams.get(TEAM_ID)).toEqual({ archived: false, plan: 'pro' });
      });
  });
});

describe('meetings hears', () => {
  it('identity.account.changed.v1 and ends the joins of a closed account', async () => {
    const closed: string[] = [];
    // The consumer calls nothing else of the app.
    const app = { endJoinsOf: (userId: string) => Promise.resolve(void closed.push(userId)) } as App;
    const account = { user_id: USER_ID, state: 'disabled' as const, name: null, email: null, picture_url: null, revision: 2 };
    await expectMessage(pactBetween(CONSUMER, PROVIDER), {
      definition: AccountChangedV1,
      data: account,
      eventHandlers: eventHandlers(app),
    });
    expect(closed).toEqual([USER_ID]);
  });
});
