import { SCOPES } from '@bubbles/contracts/access.ts';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { send } from './support/client.ts';
import { openWorld } from './support/open-world.ts';
import { type SignupAgent, signupAgent } from './support/signup.ts';
import { freshAddress, type World } from './support/world.ts';

let world: World;
let agent: SignupAgent;
beforeAll(async () => {
  world = await openWorld();
  agent = signupAgent(world);
});
afterAll(() => world.close());

const LINKS = { google: 'google_connect_url', microsoft: 'microsoft_connect_url' } as const;
const pageAt = async (url: string, init: RequestInit = {}) => {
  const response = await fetch(url, { redirect: 'manual', ...init });
  return { status: response.status, headers: response.headers, html: await response.text() };
};

describe('the end of a signup', () => {
  it('[SIGN-08] names links that are pages for people, of the product itself and not below /v1', async () => {
    const signup_session = await agent.created(freshAddress('ada'));
    const { json } = await agent.step('calendar', { signup_session });
    expect(json.why.length).toBeGreaterThan(0);
    for (const [provider, field] of Object.entries(LINKS)) {
      const { origin, pathname, searchParams } = new URL(json[field]);
      expect([origin, pathname]).toEqual([world.baseUrl, `/connect/calendar/${provider}`]);
      expect(json[field]).not.toContain(signup_session);
      expect(searchParams.get('link')).toMatch(/^[\w.-]{60,}$/);
      const { status, headers, html } = await pageAt(json[field]);
      expect([status, headers.get('content-type'), headers.get('cache-control')]).toEqual([200, 'text/html; charset=utf-8', 'no-store']);
      expect(headers.get('content-security-policy')).toContain("default-src 'none'");
      expect(html).toMatch(/not set up to connect (?:Google|Microsoft) calendars/);
    }
  });

  it('[SIGN-10] names the same links again, by POST and GET, and other ones for another signup', async () => {
    const signup_session = await agent.created(freshAddress('ada'));
    const answers = [await agent.step('calendar', { signup_session }), await agent.step('calendar', { signup_session }, 'GET')];
    expect(answers[1]?.text).toBe(answers[0]?.text);
    const other = await agent.step('calendar', { signup_session: await agent.created(freshAddress('ben')) });
    for (const field of Object.values(LINKS)) expect(other.json[field]).not.toBe(answers[0]?.json[field]);
  });

  it.each(['?link=x', '', '/callback', '/callback?code=x&state=y'])(
    '[SIGN-08] a link that is none of its own is a page of 403: %s',
    async (rest) => {
      const { status, headers } = await pageAt(`${world.baseUrl}/connect/calendar/google${rest}`);
      expect([status, headers.get('content-type'), headers.get('location')]).toEqual([403, 'text/html; charset=utf-8', null]);
    },
  );

  it('[SIGN-08] says how an assistant connects, and offers nothing where no connector is installed', async () => {
    const { json } = await agent.step('calendar', { signup_session: await agent.created(freshAddress('ada')) });
    expect(json.mcp).toEqual({
      endpoint: `${world.baseUrl}/mcp`,
      oauth_protected_resource: `${world.baseUrl}/.well-known/oauth-protected-resource/mcp`,
      scopes: Object.keys(SCOPES),
      how_to_connect: expect.stringContaining('not installed'),
      tools: [],
    });
    const metadata = await (await fetch(json.mcp.oauth_protected_resource)).json();
    expect(metadata).toMatchObject({ resource: json.mcp.endpoint, scopes_supported: json.mcp.scopes });
  });

  it('[SIGN-08] is in no public document: pages are for people', async () => {
    const { paths } = (await send(world.baseUrl, '/v1/openapi.json')).json;
    expect(Object.keys(paths).filter((path) => path.startsWith('/connect'))).toEqual([]);
  });
});
