import { CONNECTOR_TOOLS } from '@bubbles/contracts/connector.ts';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { calendarEnvironment, type FakeProvider, startFakeProvider } from '../../services/signup/test/fake-calendar-provider.ts';
import { control, type Sandbox, startSandbox, worldAt } from './support/sandbox-world.ts';
import { type SignupAgent, signupAgent } from './support/signup.ts';
import { freshAddress, type World } from './support/world.ts';

let provider: FakeProvider;
let sandbox: Sandbox;
let world: World;
let agent: SignupAgent;
beforeAll(async () => {
  provider = await startFakeProvider();
  const environment = { LOG_LEVEL: 'debug', ASSISTANT_CONNECTOR: '1', ...calendarEnvironment(provider) };
  sandbox = await startSandbox(['--data', ':memory:'], environment);
  world = worldAt(sandbox.url, () => sandbox.stop());
  agent = signupAgent(world);
});
afterAll(async () => {
  await world.close();
  await provider.stop();
});

const get = async (url: string | URL, cookie = '') => {
  const response = await fetch(url, { redirect: 'manual', headers: { cookie } });
  const [kept = ''] = response.headers.getSetCookie();
  const html = await response.text();
  return {
    status: response.status,
    html,
    location: (/href="([^"]*)"/.exec(html)?.[1] ?? '').replaceAll('&amp;', '&'),
    cookie: kept.split(';')[0] ?? '',
  };
};
const settle = () => control(sandbox.url, 'POST /settle');

describe('a calendar, in a browser', () => {
  it('[SIGN-08] is connected by its link, and its grant is revoked when the account is closed', async () => {
    const email = freshAddress('ada');
    const person = await world.user({ email });
    const { json } = await agent.step('calendar', { signup_session: await agent.created(email) });
    const opened = await get(json.google_connect_url);
    expect([opened.status, new URL(opened.location).searchParams.get('redirect_uri')]).toEqual([
      200,
      `${world.baseUrl}/connect/calendar/google/callback`,
    ]);
    const back = provider.consent(opened.location, 'ada');
    expect((await get(back)).status).toBe(403);
    // The browser of somebody who is signed in sends more than the cookie of the consent.
    const done = await get(back, `session=svc_session_x; ${opened.cookie}; other=1`);
    expect(done.html).toContain('Your Google calendar is connected');
    await settle();
    expect((await get(json.google_connect_url)).html).toContain('is connected');
    await world.changeUser(person.id, { name: 'Ada of Acme' });
    await settle();
    expect(provider.revoked).toEqual([]);
    await world.setState(person.id, 'disabled');
    await settle();
    expect(provider.revoked).toEqual([expect.stringMatching(/^refresh-ada-/)]);
  });

  it('[SIGN-08] has links for as long as its signup, and no longer', async () => {
    const { json } = await agent.step('calendar', { signup_session: await agent.created(freshAddress('ben')) });
    await control(sandbox.url, 'POST /clock', { advance_seconds: 59 * 60 });
    expect((await get(json.microsoft_connect_url)).location).toContain('/authorize?');
    await control(sandbox.url, 'POST /clock', { advance_seconds: 2 * 60 });
    expect((await get(json.microsoft_connect_url)).status).toBe(403);
  });

  it('[SIGN-08] does not keep a signup waiting whose provider is away, nor leave secrets in the log', async () => {
    const signup_session = await agent.created(freshAddress('eve'));
    const { json } = await agent.step('calendar', { signup_session });
    const opened = await get(json.google_connect_url);
    const back = provider.consent(opened.location, 'eve');
    provider.answerToken = (res) => void res.destroy();
    expect((await get(back, opened.cookie)).status).toBe(500);
    provider.answerToken = null;
    expect((await get(back, opened.cookie)).status).toBe(200);
    expect((await agent.step('calendar', { signup_session })).status).toBe(200);
    const log = sandbox.errors();
    const link = new URL(json.google_connect_url).searchParams.get('link') ?? '';
    const secrets = [
      link,
      back.searchParams.get('code'),
      back.searchParams.get('state'),
      opened.cookie.split('=')[1],
      'refresh-eve',
      'the-secret',
    ];
    for (const secret of secrets) expect(log).not.toContain(secret);
    expect(log).toContain('/connect/calendar/{provider}/callback');
  });
});

describe('an assistant connector', () => {
  it('[SIGN-08] is named with all that it offers where it is installed', async () => {
    const { json } = await agent.step('calendar', { signup_session: await agent.created(freshAddress('ada')) });
    expect(json.mcp.tools).toEqual(CONNECTOR_TOOLS);
    expect(json.mcp.how_to_connect).toContain(`${world.baseUrl}/mcp`);
  });
});
