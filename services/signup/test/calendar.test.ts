import { createHash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type CalendarWorld, PUBLIC, startCalendarWorld } from './calendar-world.ts';
import { CLIENT, type FakeProvider, GOOGLE_SCOPE, idToken, startFakeProvider } from './fake-calendar-provider.ts';

let provider: FakeProvider;
let world: CalendarWorld;
beforeEach(async () => {
  provider = await startFakeProvider();
  world = await startCalendarWorld(provider);
});
afterEach(async () => {
  await world.stop();
  await provider.stop();
});

const SECRETS = /refresh-|the-secret|k1\.|code_verifier|svc_/;

describe('a link that connects a calendar', () => {
  it.each(['google', 'microsoft'] as const)(
    '[SIGN-08] of %s leads to its consent with state, PKCE and the fixed redirect URI',
    async (name) => {
      const { status, text, location, headers, cookie } = await world.get(world.linksOf()[name]);
      const { searchParams: asked, origin, pathname } = new URL(location);
      expect([status, origin + pathname]).toEqual([200, `${provider.url}/authorize`]);
      expect(Object.fromEntries(asked)).toMatchObject({
        client_id: CLIENT.id,
        redirect_uri: `${PUBLIC}/connect/calendar/${name}/callback`,
        response_type: 'code',
        code_challenge_method: 'S256',
        code_challenge: expect.stringMatching(/^[\w-]{43}$/),
        state: expect.stringMatching(/^[\w-]{43}$/),
        scope: name === 'google' ? GOOGLE_SCOPE : 'openid offline_access Calendars.Read',
      });
      expect(text).toContain('<bdi>ada@acme.example</bdi>');
      expect(headers.getSetCookie()).toEqual([`${cookie}; Path=/connect/calendar/${name}; Max-Age=600; HttpOnly; SameSite=Lax; Secure`]);
      expect(cookie).toMatch(/^__Secure-calendar=/);
      expect(cookie).not.toContain(asked.get('state'));
      expect([headers.get('cache-control'), await world.grants()]).toEqual(['no-store', []]);
    },
  );

  it('[SIGN-08] hides what it says, and shows the address to whoever opens it, so that nobody connects to the account of another', async () => {
    const { google } = world.linksOf('eve');
    expect(Buffer.from(google.split('.').at(-1) ?? '', 'base64url').toString('latin1')).not.toMatch(/eve|acme/);
    expect((await world.get(google)).text).toMatch(/account of <strong><bdi>eve@acme.example<[^.]*\. Go on only if this is your address/);
  });

  it('[SIGN-10] is the same again for the same signup, and good for one provider', async () => {
    const { google, microsoft } = world.linksOf();
    expect(world.linksOf()).toEqual({ google, microsoft });
    expect((await world.get(google.replace('/google', '/microsoft'))).status).toBe(403);
  });

  it('[SIGN-08] is over with its signup', async () => {
    const { google } = world.linksOf();
    await world.pass(3599);
    expect((await world.get(google)).status).toBe(200);
    await world.pass(1);
    const over = await world.get(google);
    expect([over.status, over.location, over.cookie]).toEqual([403, '', '']);
    expect(over.text).toContain('This link is over');
  });

  it.each(['', '?link=x', '?link=x.y', '?link=.', '?link=k1.AAAA', '?link=k9.AAAA', `?link=${'a'.repeat(1000)}`])(
    '[SIGN-08] is over when it is not ours: %s',
    async (query) => {
      expect((await world.get(`/connect/calendar/google${query}`)).status).toBe(403);
    },
  );

  it('[SIGN-08] that was changed in one character is over', async () => {
    const [start, token = ''] = world.linksOf().google.split('link=');
    for (const at of [0, 10, token.indexOf('.') + 1, token.indexOf('.') + 20, token.length - 3]) {
      const other = token[at] === 'A' ? 'B' : 'A';
      expect((await world.get(`${start}link=${token.slice(0, at)}${other}${token.slice(at + 1)}`)).status).toBe(403);
    }
  });

  it.each(['?link=', '?link=a&link=b', `?link=${'a'.repeat(1025)}`])(
    '[SIGN-08] with a malformed query is a page of 400: %s',
    async (query) => {
      const { status, text, headers } = await world.get(`/connect/calendar/google${query}`);
      expect([status, headers.get('content-type')]).toEqual([400, 'text/html; charset=utf-8']);
      expect(text).toContain('link');
    },
  );

  it.each(['/connect/calendar/apple?link=a', '/connect/calendar/google/', '/connect/calendar/google/callback/x'])(
    '[SIGN-08] of nobody is not found: %s',
    async (path) => {
      expect((await world.get(path)).status).toBe(404);
    },
  );

  it('[SIGN-08] opened many times, as previews do, stores nothing and still connects', async () => {
    const { google } = world.linksOf();
    for (let n = 0; n < 20; n += 1) await world.get(google, '', n % 2 === 0 ? 'GET' : 'HEAD');
    expect(await world.grants()).toEqual([]);
    expect((await world.connect(google)).status).toBe(200);
  });

  it('[SIGN-08] that has connected a calendar does not ask again', async () => {
    const { google, microsoft } = world.linksOf();
    await world.connect(google);
    const again = await world.get(google);
    expect([again.status, again.location]).toEqual([200, '']);
    expect(again.text).toContain('is connected');
    expect((await world.get(microsoft)).location).toContain('/authorize?');
    expect((await world.get(world.linksOf('ben').google)).location).toContain('/authorize?');
  });
});

describe('a consent', () => {
  it.each(['google', 'microsoft'] as const)('[SIGN-08] of %s is stored sealed under the account', async (name) => {
    if (name === 'microsoft') provider.scope = 'openid https://graph.microsoft.com/Calendars.Read';
    const done = await world.connect(world.linksOf()[name]);
    expect([done.status, done.cookie]).toEqual([200, '__Secure-calendar=']);
    expect(done.headers.getSetCookie()[0]).toContain('Max-Age=0');
    expect(done.text).toContain('Calendar connected');
    await world.settle();
    const grants = await world.grants();
    expect(grants).toMatchObject([{ userId: 'ada', flowId: 'flow of ada', provider: name, isChecked: true, life: 1 }]);
    expect(JSON.stringify(grants)).not.toMatch(/refresh-|subject/);
  });

  it('[SIGN-08] proves with PKCE that it is the one that began', async () => {
    const { location, cookie } = await world.get(world.linksOf().google);
    await world.get(provider.consent(location), cookie);
    const verifier = provider.tokenCalls[0]?.get('code_verifier') ?? '';
    expect(createHash('sha256').update(verifier).digest('base64url')).toBe(new URL(location).searchParams.get('code_challenge'));
  });

  it('[SIGN-08] that the user denies connects nothing, and says that signup is complete', async () => {
    const { location, cookie } = await world.get(world.linksOf().google);
    const back = provider.consent(location);
    back.searchParams.delete('code');
    back.searchParams.set('error', 'access_denied');
    const { status, text } = await world.get(back, cookie);
    expect([status, provider.tokenCalls, await world.grants()]).toEqual([200, [], []]);
    expect(text).toContain('signup is complete');
    expect((await world.get(world.linksOf().google)).location).toContain('/authorize?');
  });

  it.each(['an error', 'no code'])('[SIGN-08] that ends with %s is a page, without what the provider wrote', async (how) => {
    const { location, cookie } = await world.get(world.linksOf().google);
    const back = provider.consent(location);
    back.searchParams.delete('code');
    if (how === 'an error') back.searchParams.set('error', '<script>alert(1)</script>');
    const { status, text } = await world.get(back, cookie);
    expect(status).toBe(400);
    expect(text).not.toContain('script');
    expect(provider.tokenCalls).toEqual([]);
  });

  it('[SIGN-08] without the cookie, or with that of another flow, provider or state, connects nothing', async () => {
    const { google, microsoft } = world.linksOf();
    const mine = await world.get(google);
    const [other, elsewhere] = [await world.get(world.linksOf('eve').google), await world.get(microsoft)];
    const back = provider.consent(mine.location);
    const toMicrosoft = new URL(back.href.replace('/google/', '/microsoft/'));
    const withoutState = new URL(back);
    withoutState.searchParams.delete('state');
    for (const [url, cookie] of [
      [back, ''],
      [back, other.cookie],
      [back, elsewhere.cookie],
      [back, `${mine.cookie.slice(0, -6)}AAAAAA`],
      [back, '__Secure-calendar=k1.AAAA'],
      [back, '__Secure-calendar=k9.AAAA'],
      [back, '__Secure-calendar='],
      [back, `${mine.cookie}; ${mine.cookie}`],
      [withoutState, mine.cookie],
      [toMicrosoft, mine.cookie],
    ] as const) {
      const { status, text } = await world.get(url, cookie);
      expect(status).toBe(403);
      expect(text).toContain('did not begin this consent');
    }
    expect([provider.tokenCalls, await world.grants()]).toEqual([[], []]);
    expect((await world.get(back, mine.cookie)).status).toBe(200);
  });

  it('[SIGN-08] takes ten minutes at most', async () => {
    const { location, cookie } = await world.get(world.linksOf().google);
    await world.pass(600);
    expect((await world.get(provider.consent(location), cookie)).status).toBe(403);
  });

  it('[SIGN-08] comes back once: the second time its code is refused', async () => {
    const { location, cookie } = await world.get(world.linksOf().google);
    const back = provider.consent(location);
    expect((await world.get(back, cookie)).status).toBe(200);
    const again = await world.get(back, cookie);
    expect(again.status).toBe(400);
    expect(again.text).toContain('used before');
    expect(await world.grants()).toHaveLength(1);
  });

  it('[SIGN-08] that comes back by HEAD is not taken', async () => {
    const { location, cookie } = await world.get(world.linksOf().google);
    const back = provider.consent(location);
    expect((await world.get(back, cookie, 'HEAD')).status).toBe(405);
    expect(provider.tokenCalls).toEqual([]);
    expect((await world.get(back, cookie)).status).toBe(200);
  });

  it.each([
    ['no refresh token', { givesRefreshToken: false }],
    ['no calendar, which was unticked', { scope: 'openid' }],
  ])('[SIGN-08] that gives %s connects nothing', async (_, change) => {
    Object.assign(provider, change);
    const { status, text } = await world.connect(world.linksOf().google);
    expect([status, await world.grants()]).toEqual([400, []]);
    expect(text).toContain('lasting access');
  });

  it('[SIGN-08] of another account at the provider is a grant beside; of the same it takes its place', async () => {
    await world.connect(world.linksOf('ada', 'flow-1').google, 'work');
    await world.connect(world.linksOf('ada', 'flow-2').google, 'home');
    await world.connect(world.linksOf('ada', 'flow-3').google, 'work');
    expect((await world.grants()).map((grant) => Reflect.get(grant, 'flowId')).sort()).toEqual(['flow-2', 'flow-3']);
  });

  it('[SIGN-08] twenty at once from one link end in one grant', async () => {
    const { google } = world.linksOf();
    const opened = await Promise.all(Array.from({ length: 20 }, () => world.get(google)));
    const done = await Promise.all(opened.map(({ location, cookie }) => world.get(provider.consent(location), cookie)));
    expect(new Set(done.map(({ status }) => status))).toEqual(new Set([200]));
    expect(await world.grants()).toHaveLength(1);
  });
});

type Answered = NonNullable<FakeProvider['answerToken']>;
const withBody =
  (status: number, body: unknown): Answered =>
  (res) =>
    void res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
const FOR_SOMEBODY_ELSE = { refresh_token: 'refresh-x', scope: GOOGLE_SCOPE, id_token: idToken({ sub: 's', aud: 'x' }) };

describe('a provider that does not answer as it should', () => {
  it.each<[string, Answered]>([
    ['HTML', (res) => void res.writeHead(200, { 'content-type': 'text/html' }).end('<h1>refresh_token</h1>')],
    ['10 MB', withBody(200, { a: 'x'.repeat(10_000_000) })],
    ['500', withBody(500, {})],
    ['a redirect', (res) => void res.writeHead(302, { location: 'http://169.254.169.254/' }).end()],
    ['no answer', (res) => void res.destroy()],
    ['a list', withBody(200, [])],
    ['no id token', withBody(200, { refresh_token: 'refresh-x', scope: GOOGLE_SCOPE })],
    ['an id token for somebody else', withBody(200, FOR_SOMEBODY_ELSE)],
    ['that it does not know us', withBody(401, { error: 'invalid_client' })],
  ])('[SIGN-08] (%s) is a page that says so; the same page loaded again goes on', async (_, answerToken) => {
    const { location, cookie } = await world.get(world.linksOf().google);
    const back = provider.consent(location);
    provider.answerToken = answerToken;
    const { status, text, headers } = await world.get(back, cookie);
    expect([status, headers.get('retry-after'), headers.get('content-type')]).toEqual([500, '60', 'text/html; charset=utf-8']);
    expect(text).toContain('Please try again');
    expect(await world.grants()).toEqual([]);
    provider.answerToken = null;
    expect((await world.get(back, cookie)).status).toBe(200);
    expect(JSON.stringify(world.log.lines)).not.toMatch(SECRETS);
  });
});

describe('an installation without client ids', () => {
  it('[SIGN-08] has links that say so', async () => {
    const bare = await startCalendarWorld(provider, { environment: { GOOGLE_CALENDAR_CLIENT_ID: '', GOOGLE_CALENDAR_CLIENT_SECRET: '' } });
    const { status, text, location } = await bare.get(bare.linksOf().google);
    expect([status, location]).toEqual([200, '']);
    expect(text).toContain('not set up to connect Google calendars');
    expect((await bare.get(bare.linksOf().microsoft)).location).toContain('/authorize?');
    expect((await bare.get('/connect/calendar/google?link=x')).status).toBe(403);
    await bare.stop();
  });

  it('[SIGN-08] does not start with half of a client', async () => {
    const half = startCalendarWorld(provider, { environment: { GOOGLE_CALENDAR_CLIENT_SECRET: '' } });
    await expect(half).rejects.toThrow('GOOGLE_CALENDAR_CLIENT_ID and GOOGLE_CALENDAR_CLIENT_SECRET');
  });
});

describe('the log', () => {
  it('[SIGN-08] has no token, code, state or secret of a consent', async () => {
    const { google } = world.linksOf();
    const { location, cookie } = await world.get(google);
    const back = provider.consent(location);
    await world.get(back, cookie);
    await world.accountChanges('ada', { state: 'disabled', life: 1 });
    const lines = JSON.stringify(world.log.lines);
    const sent = [back.searchParams.get('code'), back.searchParams.get('state'), google.split('link=')[1], cookie.split('=')[1]];
    for (const secret of sent) expect(lines).not.toContain(secret);
    expect(lines).not.toMatch(SECRETS);
    expect(lines).toContain('/connect/calendar/{provider}/callback');
  });
});
