import { AccountChangedV1 } from '@bubbles/contracts/events/service-events.ts';
import { createInternalClient } from '@bubbles/http/client/internal-client.ts';
import { eventHandlers } from '@bubbles/meetings-bot-gateway/adapters/bus/event-handlers.ts';
import { createAccess } from '@bubbles/meetings-bot-gateway/adapters/services/access.ts';
import type { App } from '@bubbles/meetings-bot-gateway/app.ts';
import { describe, expect, it } from '@jest/globals';
import { Matchers } from '@pact-foundation/pact';
import { TEAM_ID, USER_ID } from '../examples.ts';
import { expectMessage } from '../messages.ts';
import { calledBy, pactBetween, readBy, tokensOf } from '../pacts.ts';

const CONSUMER = 'meetings-bot-gateway';
const PROVIDER = 'identity-and-oauth';
const EMAIL = 'ada@acme.test';

const user = {
  id: USER_ID,
  state: 'active',
  life: 1,
  memberships: [{ team_id: TEAM_ID, role: 'member', hidden: false }],
};

describe('meetings asks identity', () => {
  it('[MEET-03][MEET-09] who may record for a team, and whose account an address is', async () => {
    const asked = { userIds: [USER_ID], teamIds: [TEAM_ID], emails: [EMAIL] };
    const teams = [{ id: TEAM_ID, plan: 'pro', archived: false }];
    const answer = { users: [user], teams, by_email: [{ email: EMAIL, user }] };
    const { body, rules } = await readBy((client) => createAccess(client).ask(asked), answer);
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
        const known = await createAccess(identity).ask(asked);
        const ada = { id: USER_ID, active: true, life: 1, memberships: [{ teamId: TEAM_ID, role: 'member', hidden: false }] };
        expect([known.users.get(USER_ID), known.byEmail.get(EMAIL)]).toEqual([ada, ada]);
        expect(known.teams.get(TEAM_ID)).toEqual({ archived: false, plan: 'pro' });
      });
  });
});

describe('meetings hears', () => {
  it('identity.account.changed.v1 and ends the joins of a closed account', async () => {
    const closed: string[] = [];
    // The consumer calls nothing else of the app.
    const app = { endJoinsOf: (userId: string) => Promise.resolve(void closed.push(userId)) } as App;
    const account = { user_id: USER_ID, state: 'disabled' };
    await expectMessage(pactBetween(CONSUMER, PROVIDER), {
      definition: AccountChangedV1,
      data: account,
      eventHandlers: eventHandlers(app),
    });
    expect(closed).toEqual([USER_ID]);
  });
});
