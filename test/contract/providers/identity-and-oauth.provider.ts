import { createHash, randomUUID } from 'node:crypto';
import type { CloudEvent } from '@bubbles/bus/bus.ts';
import {
  AdminClient,
  AdminTeam,
  ChecksResponse,
  CreatedAccount,
  IssuedGrant,
  IssuedSession,
} from '@bubbles/contracts/internal/identity.ts';
import { SIGNUP_CALLS } from '@bubbles/contracts/internal/identity-signup.ts';
import { SERVICES } from '@bubbles/contracts/services.ts';
import { identityAndOauth } from '@bubbles/identity-and-oauth/service.ts';
import { fakeClock } from '@bubbles/testing/fake-clock.ts';
import { asService } from '@bubbles/testing/http.ts';
import { recordingBus } from '@bubbles/testing/recording-bus.ts';
import { startTestService, type TestService } from '@bubbles/testing/service-under-test.ts';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { claimsMessage } from '../pacts.ts';
import { verify } from '../verify.ts';

const RATE_LIMIT = 120;
const hashOf = (token: string): string => createHash('sha256').update(token).digest('hex');

describe('identity-and-oauth', () => {
  const bus = recordingBus();
  const clock = fakeClock();
  let identity: TestService;

  beforeAll(async () => {
    identity = await startTestService(identityAndOauth, { clock, bus });
  });
  afterAll(() => identity.stop());

  const send = async (
    path: string,
    { method = 'POST', body, headers = asService('operator') }: { method?: string; body?: unknown; headers?: object },
  ) => {
    const response = await identity.fetch(path, {
      method,
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return response.status === 204 ? null : await response.json();
  };
  const admin = (path: string, body: unknown, method = 'POST') => send(`/internal/v1/admin/${path}`, { method, body });

  const anAccount = async () => {
    const created = await admin('accounts', {
      name: 'Ada',
      email: `ada-${randomUUID()}@acme.test`,
      picture_url: 'https://media.example.com/ada.png',
      key_name: 'first',
    });
    const { account, session, key } = CreatedAccount.parse(created);
    if (key === null) throw new Error('the account has no key');
    return { id: account.user_id, email: account.email, session: session.session_token, keyId: key.id, hash: hashOf(key.token) };
  };

  const anAccessToken = async () => {
    const { id } = await anAccount();
    const client = AdminClient.parse(
      await admin('clients', { client_name: 'Notes', redirect_uris: ['https://notes.example.com/callback'] }),
    );
    const { access_token: jwt, grant } = IssuedGrant.parse(await admin(`accounts/${id}/grants`, { client_id: client.client_id }));
    return { id, grantId: grant.id, token: { hash: hashOf(jwt), jwt } };
  };

  const stateHandlers = {
    'an API key is active': async () => ({ hash: (await anAccount()).hash }),
    'a token is unknown': () => Promise.resolve({ hash: hashOf('a token that nobody issued') }),
    'an API key has spent its budget': async () => {
      const { hash } = await anAccount();
      const check = { h: hash, jwt: null, aud: 'bubbles-query', accepts: ['pat'] };
      await send('/internal/v1/checks', {
        body: { checks: Array.from({ length: RATE_LIMIT }, () => check) },
        headers: asService('gateway'),
      });
      return { hash };
    },
    'an API key has been revoked': async () => {
      const { hash, keyId, session } = await anAccount();
      await send(`/v1/api-keys/${keyId}`, { method: 'DELETE', headers: { authorization: `Bearer ${session}` } });
      return { hash };
    },
    'the account of an API key is closed': async () => {
      const { id, hash } = await anAccount();
      await admin(`accounts/${id}/state`, { state: 'disabled' }, 'PUT');
      return { hash };
    },
    'an access token is live': async () => (await anAccessToken()).token,
    'the grant of an access token has ended': async () => {
      const { grantId, token } = await anAccessToken();
      await admin(`grants/${grantId}`, undefined, 'DELETE');
      return token;
    },
    'the account of an access token is closed': async () => {
      const { id, token } = await anAccessToken();
      await admin(`accounts/${id}/state`, { state: 'disabled' }, 'PUT');
      return token;
    },
    'what operators act on': async () => {
      const { id } = await anAccount();
      const session = IssuedSession.parse(await admin(`accounts/${id}/sessions`, null));
      const { client_id } = AdminClient.parse(
        await admin('clients', { client_name: 'Notes', redirect_uris: ['https://notes.example.com/callback'] }),
      );
      const { grant } = IssuedGrant.parse(await admin(`accounts/${id}/grants`, { client_id }));
      const team = AdminTeam.parse(await admin('teams', { name: 'Acme', plan: 'pro' }));
      await admin(`teams/${team.id}/members/${id}`, { role: 'member' }, 'PUT');
      return { user_id: id, team_id: team.id, session_id: session.id, client_id, grant_id: grant.id };
    },
    'an account': async () => ({ user_id: (await anAccount()).id }),
    'a member of a team with a channel': async () => {
      const { id, email } = await anAccount();
      const team = z.object({ id: z.string() }).parse(await admin('teams', { name: 'Acme', plan: 'pro' }));
      await admin(`teams/${team.id}/members/${id}`, { role: 'member' }, 'PUT');
      await admin(`teams/${team.id}/channels`, { name: 'Reviews', member_ids: null });
      return { user_id: id, team_id: team.id, email };
    },
  };

  const signup = (call: keyof typeof SIGNUP_CALLS, body: unknown) => send(SIGNUP_CALLS[call].path, { body, headers: asService('signup') });

  const signupStates = {
    'an address that may join a workspace': async () => {
      const team = AdminTeam.parse(await admin('teams', { name: 'Acme', plan: 'free', domain: 'acme.test', discoverable: true }));
      return { email: (await anAccount()).email, team_id: team.id };
    },
    'an address without an account': () => Promise.resolve({ email: `new-${randomUUID()}@acme.test` }),
    'an address whose account is disabled': async () => {
      const { id, email } = await anAccount();
      await admin(`accounts/${id}/state`, { state: 'disabled' }, 'PUT');
      return { email };
    },
    'a workspace that a signup made': async () => {
      const made = { flow_id: randomUUID(), email: `new-${randomUUID()}@acme.test` };
      await signup('create', { ...made, name: 'Acme' });
      return made;
    },
  };

  const lastHeard = (type: string): CloudEvent => {
    const event = bus.published.findLast((published) => published.type === type);
    if (!event) throw new Error(`${type} was not published`);
    return event;
  };

  /** The assertion that an active API key gets for a service, taken apart. */
  const claimsFor = async (aud: string) => {
    const { hash } = await anAccount();
    const checks = [{ h: hash, jwt: null, aud, accepts: ['pat'] }];
    const { answers } = ChecksResponse.parse(await send('/internal/v1/checks', { body: { checks }, headers: asService('gateway') }));
    const [answer] = answers;
    if (answer?.outcome !== 'allowed') throw new Error('the key is not allowed');
    const [header, claims] = answer.assertion.split('.').map((part) => Buffer.from(part, 'base64url').toString());
    return { header: JSON.parse(header ?? ''), claims: JSON.parse(claims ?? '') };
  };
  const assertions = Object.fromEntries(Object.keys(SERVICES).map((name) => [claimsMessage(name), () => claimsFor(name)]));

  it('keeps its pacts', async () => {
    const verified = verify({
      provider: 'identity-and-oauth',
      providerBaseUrl: identity.url,
      stateHandlers: { ...stateHandlers, ...signupStates },
      messageProviders: {
        ...assertions,
        'identity.account.changed.v1': async () => {
          await anAccount();
          await identity.service.settle();
          return lastHeard('identity.account.changed.v1');
        },
      },
    });
    await expect(verified).resolves.toBeUndefined();
  }, 60_000);
});
