import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { send as request } from '../conformance/support/client.ts';
import { control, type Sandbox, startSandbox, worldAt } from '../conformance/support/sandbox-world.ts';
import { secretsIn } from '../conformance/support/security/logs.ts';
import type { World } from '../conformance/support/world.ts';
import { createFormBrowser, type Form, type FormBrowser, type Page } from '../support/form-browser.ts';
import { hostileBody, hostileText, strangeHeaders } from './hostile.ts';

const RUNS = Number(process.env['FUZZ_RUNS'] ?? 1000);
const SEED = process.env['FUZZ_SEED'] === undefined ? {} : { seed: Number(process.env['FUZZ_SEED']) };
const LIMIT_MS = 300_000 + RUNS * 60;
const FORM = 'application/x-www-form-urlencoded';
/** Before the clock moves on, so that no limit ends the run. */
const REQUESTS_PER_MINUTE = 50;
const MOST_PAGES = 40;
/** It ends text, an attribute and a tag, and shows in a page when it was not escaped. */
const MARK = `'"><x-mark a='`;

/** Those that must be found; an id stands for all of them. */
const FORMS: readonly string[] = [
  '/app/api-keys',
  '/app/api-keys/{id}/revoke',
  '/app/connected-apps/disconnect',
  '/app/sessions',
  '/app/sign-in',
  '/app/sign-in/{id}',
  '/app/sign-in/{id}/account',
  '/app/webhooks/{id}/test',
  '/oauth/interaction/{id}',
];

let sandbox: Sandbox;
let world: World;
beforeAll(async () => {
  sandbox = await startSandbox(['--data', ':memory:'], { LOG_LEVEL: 'debug' });
  world = worldAt(sandbox.url, () => sandbox.stop());
});
afterAll(() => world.close());

const REFUSING_RECEIVER = `http://127.0.0.1:40009/${encodeURIComponent(MARK)}`;
const REDIRECT_URI = 'https://client.test/callback';
const CHALLENGE = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';

/** What an app asks a browser to open. */
async function authorizationRequest(): Promise<string> {
  const answer = await fetch(`${sandbox.url}/oauth/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ redirect_uris: [REDIRECT_URI], client_name: `An app ${MARK}`, token_endpoint_auth_method: 'none' }),
  });
  const { client_id } = (await answer.json()) as { readonly client_id: string };
  const query = {
    response_type: 'code',
    client_id,
    redirect_uri: REDIRECT_URI,
    code_challenge: CHALLENGE,
    code_challenge_method: 'S256',
    state: MARK,
  };
  return `/oauth/authorize?${new URLSearchParams(query)}`;
}

/** Every page that can be reached from there without a form. */
async function crawl(browser: FormBrowser, start: string): Promise<Page[]> {
  const pages: Page[] = [];
  const waiting = [start];
  const seen = new Set(waiting);
  for (let path = waiting.shift(); path !== undefined && pages.length < MOST_PAGES; path = waiting.shift()) {
    const page = await browser.open(sandbox.url + path);
    pages.push(page);
    for (const [, link = ''] of page.html.matchAll(/<a href="(\/[^"]*)"/g)) {
      if (!seen.has(link)) waiting.push(link.replaceAll('&amp;', '&'));
      seen.add(link);
    }
  }
  return pages;
}

/** A page of ours, or the app that the user has answered. */
const isOurs = (location: string): boolean =>
  new URL(location, sandbox.url).origin === new URL(sandbox.url).origin || location.startsWith(`${REDIRECT_URI}?`);

/** What is wrong with the answer of a page, whatever was sent. */
function faultsOf({ status, headers, html: text }: Pick<Page, 'status' | 'headers' | 'html'>): string[] {
  const faults: string[] = [];
  if (![200, 303, 400, 403, 404, 409, 413, 429].includes(status)) faults.push(`answers ${status}`);
  if (headers.get('cache-control') !== 'no-store') faults.push('may be kept');
  if (headers.get('access-control-allow-origin') !== null) faults.push('is open to other origins');
  if (!headers.has('x-request-id')) faults.push('has no request id');
  const location = headers.get('location');
  if ((status === 303) !== (location !== null)) faults.push('is a redirection without a place, or none with one');
  if (location !== null && !isOurs(location)) faults.push(`leads to ${location}`);
  if (status === 303) return text === '' ? faults : [...faults, 'is a redirection with a body'];
  if (headers.get('content-type') !== 'text/html; charset=utf-8') faults.push('is no page');
  if (!headers.get('content-security-policy')?.includes("default-src 'none'")) faults.push('may load anything');
  if (!headers.get('content-security-policy')?.includes("frame-ancestors 'none'")) faults.push('may be framed');
  if (!text.startsWith('<!doctype html>')) faults.push('is no document');
  if (/<x-mark|<script|javascript:/.test(text)) faults.push('shows markup of strangers');
  return faults;
}

type Field = Pick<Form['fields'][number], 'name' | 'value'>;
const encoded = (fields: readonly Field[]): string =>
  fields.map(({ name, value }) => `${encodeURIComponent(name.toWellFormed())}=${encodeURIComponent(value.toWellFormed())}`).join('&');

const hostileField = fc.oneof(
  hostileText,
  fc.constant(MARK),
  fc.constantFrom('//evil.test', 'https://evil.test/', '/\\evil.test', 'ada@acme.test'),
);

/** How a form is sent: as it is, nearly so, and what is no form of this page. */
interface Change {
  readonly how: 'as it is' | 'spoilt' | 'without' | 'twice' | 'long' | 'instead';
  /** Which of its fields. */
  readonly at: number;
  readonly value: string;
}

const change: fc.Arbitrary<Change> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ how: fc.constant('spoilt' as const), at: fc.nat(), value: hostileField }) },
  {
    weight: 6,
    arbitrary: fc.record({
      how: fc.constantFrom('as it is' as const, 'without' as const, 'twice' as const),
      at: fc.nat(),
      value: fc.constant(''),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ how: 'long' as const, at: 0, value: 'x'.repeat(70_000) }) },
  {
    weight: 2,
    arbitrary: fc.oneof(hostileBody, hostileText).map((text) => ({ how: 'instead' as const, at: 0, value: text.toWellFormed() })),
  },
);

/** Every box is ticked, and the first button pressed. */
const sentBy = ({ fields }: Form): readonly Field[] => {
  const [button] = fields.filter(({ type, name }) => type === 'submit' && name !== '');
  return [...fields.filter(({ type, sent }) => sent || type === 'radio'), ...(button === undefined ? [] : [button])];
};

const bodyOf = (form: Form, { how, at, value }: Change): string => {
  const fields = sentBy(form);
  const names = [...fields.map(({ name }) => name), 'extra'];
  const name = names[at % names.length] ?? 'extra';
  const [same, others] = [true, false].map((wanted) => fields.filter((field) => (field.name === name) === wanted));
  const bodies = {
    'as it is': () => encoded(fields),
    spoilt: () => encoded([...(others ?? []), { name, value }]),
    without: () => encoded(others ?? []),
    twice: () => encoded([...fields, ...(same ?? [])]),
    long: () => encoded([...fields, { name: 'extra', value }]),
    instead: () => value,
  };
  return bodies[how]();
};

const missing = (): never => {
  throw new Error('No page has a form.');
};

interface Visited {
  readonly page: Page;
  readonly browser: FormBrowser;
}

let addresses = 0;

/** The page for the code, and the one for a name behind a right code of an address that nobody has. */
async function signInSteps(): Promise<Visited[]> {
  const ask = async () => {
    const browser = createFormBrowser();
    addresses += 1;
    const address = `fuzz-${addresses}@example.test`;
    const page = await browser.submit(await browser.open(`${sandbox.url}/app/sign-in`), { fields: { address } });
    return { browser, address, page };
  };
  const [first, second] = [await ask(), await ask()];
  const [mail] = await control(sandbox.url, `GET /mailbox?to=${second.address}`);
  const code = /\b\d{6}\b/.exec(mail.text)?.[0] ?? '';
  return [first, { browser: second.browser, page: await second.browser.submit(second.page, { fields: { code } }) }];
}

/** The forms that somebody finds who is signed in, and somebody who is not. */
async function formsNow() {
  const person = await world.user({ name: `Ada ${MARK}` });
  const [stranger, signedIn] = [createFormBrowser(), createFormBrowser({ cookies: { session: person.session_token } })];
  await world.team({ name: 'Pro', plan: 'pro', members: [{ user_id: person.id, role: 'admin' }] });
  await request(sandbox.url, '/v1/webhooks', {
    method: 'POST',
    as: person.pat,
    body: { url: REFUSING_RECEIVER, events: ['bubble.ready'] },
  });
  await control(sandbox.url, 'POST /clock', { advance_seconds: 60 });
  await signedIn.submit(await signedIn.open(sandbox.url + (await authorizationRequest())), { press: 'allow' });
  const pages = [
    ...(await crawl(stranger, '/app/sign-in')).map((page) => ({ page, browser: stranger })),
    ...(await signInSteps()),
    ...(await crawl(signedIn, '/app/')).map((page) => ({ page, browser: signedIn })),
    ...(await crawl(signedIn, await authorizationRequest())).map((page) => ({ page, browser: signedIn })),
  ];
  for (const { page } of pages) expect([page.url.href, faultsOf(page)]).toEqual([page.url.href, []]);
  return pages.flatMap(({ page, browser }) => page.forms.map((form) => ({ form, browser })));
}

describe('the pages', () => {
  let sent = 0;
  const tally = new Map<string, number>();
  const send = async (browser: FormBrowser, path: string, { headers = {}, ...init }: RequestInit): Promise<Response> => {
    sent += 1;
    if (sent % REQUESTS_PER_MINUTE === 0) await control(sandbox.url, 'POST /clock', { advance_seconds: 60 });
    const url = new URL(path, sandbox.url);
    const answer = await fetch(url, { ...init, redirect: 'manual', headers: { cookie: browser.cookies(url), ...headers } });
    const html = await answer.text();
    expect({ path, faults: faultsOf({ status: answer.status, headers: answer.headers, html }), html: html.slice(-600) }).toMatchObject({
      faults: [],
    });
    tally.set(String(answer.status), (tally.get(String(answer.status)) ?? 0) + 1);
    return answer;
  };

  it(
    `[ERR-06] ${RUNS} forms, good, nearly good and bad: a page or a redirection of ours, never a fault, and nothing of it is markup`,
    async () => {
      let forms = await formsNow();
      const kinds = new Set(forms.map(({ form }) => form.action.replace(/\?.*/, '').replaceAll(/[\w-]{20,}/g, '{id}')));
      expect([...kinds]).toEqual(expect.arrayContaining([...FORMS]));
      const requests = fc.tuple(fc.nat(), change, fc.option(strangeHeaders, { freq: 2 }));
      await fc.assert(
        fc.asyncProperty(requests, async ([at, changed, odd]) => {
          const { form, browser } = forms[at % forms.length] ?? missing();
          const headers = { 'content-type': FORM, ...odd };
          const answer = await send(browser, form.action, {
            method: form.method,
            headers,
            ...(form.method === 'POST' && { body: bodyOf(form, changed) }),
          });
          // Signed out by one of the forms.
          if (odd === null && answer.headers.get('location')?.startsWith('/app/sign-in')) forms = await formsNow();
        }),
        { numRuns: RUNS, ...SEED },
      );
      expect([...tally.keys()].toSorted()).toEqual(expect.arrayContaining(['200', '303', '400', '403', '413']));
    },
    LIMIT_MS,
  );

  it(
    '[ERR-06] any query: what comes before a proven client is a page, what comes after goes to that client alone',
    async () => {
      const start = await authorizationRequest();
      const signedIn = createFormBrowser({ cookies: { session: (await world.user()).session_token } });
      const parameters = [...new URLSearchParams(start.slice(start.indexOf('?'))), ['scope', 'bubbles:read'], ['resource', sandbox.url]];
      const names = [...parameters.map(([name = '']) => name), 'prompt', 'response_mode', 'request', 'request_uri', 'x'];
      const changed = fc
        .tuple(fc.constantFrom(...names), hostileField, fc.constantFrom('instead', 'beside', 'without'))
        .map(([name, value, how]) => {
          const others = how === 'beside' ? parameters : parameters.filter(([other]) => other !== name);
          const all = how === 'without' ? others : [...others, [name, value]];
          return encoded(all.map(([key = '', one = '']) => ({ name: key, value: one })));
        });
      const raw = hostileText.map((text) => encodeURIComponent(text.toWellFormed()).replaceAll('%25', '%'));
      const paths = fc.constantFrom(
        '/oauth/authorize',
        '/oauth/authorize',
        '/app/sign-in',
        '/app/',
        '/app/nothing',
        '/oauth/interaction/x',
      );
      await fc.assert(
        fc.asyncProperty(paths, fc.oneof({ weight: 4, arbitrary: changed }, raw), async (path, query) => {
          await send(signedIn, `${path}?${query}`, {});
        }),
        { numRuns: Math.ceil(RUNS / 3), ...SEED },
      );
      expect([...tally.keys()]).toEqual(expect.arrayContaining(['200', '303', '400', '404']));
    },
    LIMIT_MS,
  );

  it('[GEN-10] nothing of it left a secret in the log, or a fault', () => {
    const lines = sandbox
      .errors()
      .split('\n')
      .filter((line) => line !== '');
    expect(lines.length).toBeGreaterThan(RUNS);
    expect(secretsIn(lines)).toEqual([]);
    expect(lines.filter((line) => JSON.parse(line).level === 'error')).toEqual([]);
  });
});
