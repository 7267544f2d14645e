import { anyone } from '@bubbles/auth/guards.ts';
import { displayName } from '@bubbles/contracts/api/fields.ts';
import { form, html, redirect, withDetails } from '@bubbles/http/routes/content.ts';
import { cookie, reply, seeOther } from '@bubbles/http/routes/reply.ts';
import { route } from '@bubbles/http/routes/route.ts';
import { networkOf, siteOf } from '@bubbles/http/wire/connections.ts';
import { DomainError } from '@bubbles/kernel/errors.ts';
import type { Ids } from '@bubbles/kernel/ids.ts';
import { z } from 'zod';
import type { App } from '../../app.ts';
import { formToken } from '../../domain/form-token.ts';
import { returnPath, type SignIn } from '../../domain/sign-in.ts';
import { TOKEN_BYTES } from '../../domain/token.ts';
import type { SignInStep } from '../../use-cases/sign-in.ts';
import { checkFormToken, ownForm } from './own-form.ts';
import { addressPage, closedPage, codePage, namePage, overPage } from './pages/sign-in.ts';
import { APP_PAGE, sessionCookieName } from './signed-in.ts';

const PATH = '/app/sign-in';
const ById = z.object({ id: z.uuid() });
const Text = z.string().default('');

/** The secret of a browser in which nobody is signed in yet: it ties the forms and the code to this browser. */
const BROWSER_SECRET = /^[\w-]{43}$/;
const secretIn = (value: string | null): string => (value !== null && BROWSER_SECRET.test(value) ? value : '');
const drawSecret = (ids: Ids): string => ids.bytes(TOKEN_BYTES).toString('base64url');

type ReadCookie = (name: string) => string | null;

/** Names with the prefix that binds a cookie to this very host, where there is https. */
const cookiesOf = (publicBaseUrl: string) => {
  const secure = publicBaseUrl.startsWith('https:');
  const [browser, session] = [secure ? '__Host-sign-in' : 'sign-in', sessionCookieName(publicBaseUrl)];
  return {
    described: { [browser]: 'Ties a sign-in to this browser', [session]: 'Who is signed in' },
    browserSecret: (read: ReadCookie) => secretIn(read(browser)),
    /** The one to which a form of this browser is bound. */
    formSecret: (read: ReadCookie) => {
      const secret = secretIn(read(browser));
      if (secret === '')
        throw new DomainError('forbidden', 'Your browser did not send the cookie of this page. Allow cookies, then sign in again.');
      return secret;
    },
    formerToken: (read: ReadCookie) => read(session) || null,
    ofBrowser: (secret: string) => cookie(browser, secret, { secure }),
    ofSession: (token: string, maxAgeSeconds: number) => cookie(session, token, { secure, maxAgeSeconds }),
  };
};
type Cookies = ReturnType<typeof cookiesOf>;

const ABOUT_ADDRESS = ['sign in'];
const aboutCode = (id: string): readonly string[] => ['sign in', 'code', id];
const aboutName = (id: string): readonly string[] => ['sign in', 'name', id];

const showAddressForm = (cookies: Cookies) =>
  route(
    {
      ...APP_PAGE,
      method: 'GET',
      path: PATH,
      operationId: 'showSignIn',
      summary: 'The page with the form for an address',
      guard: anyone,
      query: z.object({ return_to: z.string().optional() }),
      answers: { 200: withDetails(html, { cookies: cookies.described }) },
    },
    ({ query, cookie: read, ids }) => {
      const secret = cookies.browserSecret(read) || drawSecret(ids);
      const returnTo = returnPath(query.return_to ?? null);
      const shown = addressPage({ address: '', returnTo, token: formToken(secret, ABOUT_ADDRESS), problem: null });
      return Promise.resolve(reply(200, shown, { cookies: [cookies.ofBrowser(secret)] }));
    },
  );

const takeAddress = (app: App, cookies: Cookies) =>
  route(
    {
      ...APP_PAGE,
      method: 'POST',
      path: PATH,
      operationId: 'sendSignInAddress',
      summary: 'Mail a code to an address',
      guard: ownForm(anyone),
      body: form(z.object({ address: Text, return_to: Text, token: Text })),
      answers: { 303: redirect, 400: html },
      errors: ['rate_limited'],
    },
    async ({ body, cookie: read, clientAddress }) => {
      const browserSecret = cookies.formSecret(read);
      checkFormToken(body.token, browserSecret, ABOUT_ADDRESS);
      const returnTo = returnPath(body.return_to);
      const { address, token } = body;
      const from = clientAddress();
      const id = await app.beginSignIn({ address, returnTo, browserSecret, client: networkOf(from), site: siteOf(from) });
      const problem = 'This is not an e-mail address. One looks like ada@example.com.';
      return id === null ? reply(400, addressPage({ address, returnTo, token, problem })) : seeOther(`${PATH}/${id}`);
    },
  );

const formOf = (signIn: SignIn, secret: string, problem: string | null = null) => {
  const { id, address, returnTo, isProven } = signIn;
  const shared = { signInId: id, address, returnTo, problem };
  return isProven
    ? namePage({ ...shared, token: formToken(secret, aboutName(id)) })
    : codePage({ ...shared, token: formToken(secret, aboutCode(id)) });
};

const showNextForm = (app: App, cookies: Cookies) =>
  route(
    {
      ...APP_PAGE,
      method: 'GET',
      path: `${PATH}/{id}`,
      operationId: 'showSignInStep',
      summary: 'The page with the form for the code, afterwards for a name',
      guard: anyone,
      params: ById,
      answers: { 200: html, 403: html },
    },
    async ({ params, cookie }) => {
      const browserSecret = cookies.browserSecret(cookie);
      const read = await app.readSignIn({ id: params.id, browserSecret });
      return read.outcome === 'over' ? reply(403, overPage(returnPath(read.returnTo))) : reply(200, formOf(read.signIn, browserSecret));
    },
  );

/** What both forms behind the first one are answered with. */
const stepAnswers = ({ described }: Cookies) => ({ 303: withDetails(redirect, { cookies: described }), 400: html, 403: html });
const WRONG_CODE = 'This is not the code of the mail. After five tries you need a new one.';

const WRONG_NAME = 'Type a name of at most 200 characters.';

interface AnsweredForm {
  readonly secret: string;
  /** As the form has it: the sign-in may be forgotten. */
  readonly returnTo: string;
}

const answerStep = (step: SignInStep, cookies: Cookies, { secret, returnTo }: AnsweredForm) => {
  switch (step.outcome) {
    case 'wrong':
      return reply(400, formOf(step.signIn, secret, step.signIn.isProven ? WRONG_NAME : WRONG_CODE));
    case 'over':
      return reply(403, overPage(returnPath(returnTo)));
    case 'closed':
      return reply(403, closedPage(returnPath(returnTo)));
    case 'new':
      return seeOther(`${PATH}/${step.signIn.id}`);
    case 'signed in': {
      const { session, token } = step.session;
      const seconds = (session.expiresAt.getTime() - session.createdAt.getTime()) / 1000;
      return seeOther(step.signIn.returnTo, { cookies: [cookies.ofSession(token, seconds)] });
    }
  }
};

const takeCode = (app: App, cookies: Cookies) =>
  route(
    {
      ...APP_PAGE,
      method: 'POST',
      path: `${PATH}/{id}`,
      operationId: 'sendSignInCode',
      summary: 'Sign in with the mailed code',
      guard: ownForm(anyone),
      params: ById,
      body: form(z.object({ code: Text, return_to: Text, token: Text })),
      answers: stepAnswers(cookies),
    },
    async ({ params: { id }, body, cookie: read }) => {
      const browserSecret = cookies.formSecret(read);
      checkFormToken(body.token, browserSecret, aboutCode(id));
      const code = body.code.replaceAll(/\s/g, '');
      const step = await app.checkSignInCode({ id, browserSecret, code, formerToken: cookies.formerToken(read) });
      return answerStep(step, cookies, { secret: browserSecret, returnTo: body.return_to });
    },
  );

const AccountName = displayName(200);

const takeName = (app: App, cookies: Cookies) =>
  route(
    {
      ...APP_PAGE,
      method: 'POST',
      path: `${PATH}/{id}/account`,
      operationId: 'sendSignUpName',
      summary: 'Open an account at the proven address',
      guard: ownForm(anyone),
      params: ById,
      body: form(z.object({ name: Text, return_to: Text, token: Text })),
      answers: stepAnswers(cookies),
      errors: ['limit_reached'],
    },
    async ({ params: { id }, body, cookie: read }) => {
      const browserSecret = cookies.formSecret(read);
      checkFormToken(body.token, browserSecret, aboutName(id));
      const name = AccountName.safeParse(body.name).data ?? null;
      const step = await app.openAccount({ id, browserSecret, name, formerToken: cookies.formerToken(read) });
      return answerStep(step, cookies, { secret: browserSecret, returnTo: body.return_to });
    },
  );

export const signInRoutes = (app: App, publicBaseUrl: string) => {
  const cookies = cookiesOf(publicBaseUrl);
  return [showAddressForm(cookies), takeAddress(app, cookies), showNextForm(app, cookies), takeCode(app, cookies), takeName(app, cookies)];
};
