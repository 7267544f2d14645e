import { createFormBrowser, type Page } from '../../support/form-browser.ts';
import { type Answered, drawPkce, followAuthorization } from '../../support/oauth-user.ts';
import type { MailedCodeQuestion } from '../processes/identity.ts';
import { type Child, startChild } from './children.ts';
import { makeKeys } from './credentials.ts';
import { startIdentity } from './world.ts';

export const REDIRECT_URI = 'http://127.0.0.1:9/callback';
const SCOPE = 'bubbles:read webhooks:manage meetings:join';
/** How many users there are at once. */
const AT_ONCE = 16;

/** Whoever signs users in and gives tokens out. */
export interface AuthorizationServer {
  readonly name: string;
  readonly child: Child<unknown>;
  readonly origin: string;
  readonly authorizePath: string;
  readonly tokenPath: string;
  readonly clientId: string;
  /** Comes from an address of their own. */
  headersOf(user: number): Readonly<Record<string, string>>;
  /** What this user does on its pages. */
  answerOf(user: number): Answered;
}

export interface Tokens {
  readonly access_token: string;
  readonly refresh_token: string;
}

const askForTokens = async (server: AuthorizationServer, user: number, fields: Readonly<Record<string, string>>): Promise<Tokens> => {
  const body = new URLSearchParams({ ...fields, client_id: server.clientId });
  const answer = await fetch(server.origin + server.tokenPath, { method: 'POST', body, headers: server.headersOf(user) });
  if (!answer.ok) throw new Error(`${server.name}: ${answer.status} ${await answer.text()}`);
  // Both of them answer as RFC 6749 has it.
  return (await answer.json()) as Tokens;
};

/** From the app's first redirect to its tokens, by a browser that nobody has seen before. */
const signIn = async (server: AuthorizationServer, user: number): Promise<Tokens> => {
  const { verifier, challenge } = drawPkce();
  const url = new URL(server.authorizePath, server.origin);
  url.search = new URLSearchParams({
    response_type: 'code',
    client_id: server.clientId,
    redirect_uri: REDIRECT_URI,
    scope: SCOPE,
    state: `user ${user}`,
    code_challenge: challenge,
    code_challenge_method: 'S256',
  }).toString();
  const back = await followAuthorization(createFormBrowser({ headers: server.headersOf(user) }), url, server.answerOf(user));
  const code = back.searchParams.get('code');
  if (code === null) throw new Error(`${server.name}: ${back}`);
  return askForTokens(server, user, { grant_type: 'authorization_code', code, redirect_uri: REDIRECT_URI, code_verifier: verifier });
};

/** What it did, and the microseconds of CPU that each took it. */
interface Measured {
  readonly tokens: readonly Tokens[];
  readonly cpuUs: number;
}

interface Users {
  readonly first: number;
  readonly count: number;
}

const measured = async (
  server: AuthorizationServer,
  { first, count }: Users,
  work: (user: number) => Promise<Tokens>,
): Promise<Measured> => {
  const tokens: Tokens[] = [];
  let next = 0;
  const before = server.child.cpuMs();
  const workThrough = async () => {
    for (let n = next; n < count; n = next) {
      next += 1;
      tokens[n] = await work(first + n);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, workThrough));
  return { tokens, cpuUs: ((server.child.cpuMs() - before) * 1000) / count };
};

/** They sign in, once each. */
export const signInEach = (server: AuthorizationServer, users: Users): Promise<Measured> =>
  measured(server, users, (user) => signIn(server, user));

/** One refresh of each. */
export const refreshEach = (server: AuthorizationServer, { tokens, ...users }: Users & Pick<Measured, 'tokens'>): Promise<Measured> =>
  measured(server, users, (user) => {
    const { refresh_token = '' } = tokens[user - users.first] ?? {};
    return askForTokens(server, user, { grant_type: 'refresh_token', refresh_token });
  });

const asksFor = (page: Page, field: string): boolean => page.forms.some(({ fields }) => fields.some(({ name }) => name === field));

/** With its own quick-start pages, the least that there is. */
export const startOidcProvider = async (): Promise<AuthorizationServer> => {
  const clientId = 'app of the bench';
  const child = await startChild<{ readonly url: string }>({
    module: 'processes/oidc-provider.mjs',
    settings: { clientId, redirectUri: REDIRECT_URI },
    core: 'measured',
  });
  return {
    name: 'oidc-provider',
    child,
    origin: child.ready.url,
    authorizePath: '/auth',
    tokenPath: '/token',
    clientId,
    headersOf: () => ({}),
    answerOf: (user) => (page) => (asksFor(page, 'login') ? { fields: { login: `user-${user}`, password: 'any' } } : {}),
  };
};

/** Identity, whose users sign in with mailed codes. */
export const startIdentityServer = async (users: number): Promise<AuthorizationServer> => {
  const child = await startIdentity(makeKeys(), { accounts: users, core: 'measured' });
  const origin = child.ready.url;
  // Questions to a process are answered one after the other.
  let answered: Promise<unknown> = Promise.resolve();
  const codeOf = (user: number): Promise<string> => {
    const question: MailedCodeQuestion = { codeOf: user };
    const code = answered.then(() => child.ask<string>(question));
    answered = code;
    return code;
  };
  const registration = { client_name: 'Bench', redirect_uris: [REDIRECT_URI], token_endpoint_auth_method: 'none' };
  const registered = await fetch(`${origin}/oauth/register`, {
    method: 'POST',
    body: JSON.stringify(registration),
    headers: { 'content-type': 'application/json' },
  });
  if (!registered.ok) throw new Error(`${registered.status} ${await registered.text()}`);
  // As RFC 7591 has it.
  const { client_id: clientId } = (await registered.json()) as { readonly client_id: string };
  return {
    name: 'identity',
    child,
    origin,
    authorizePath: '/oauth/authorize',
    tokenPath: '/oauth/token',
    clientId,
    headersOf: (user) => ({ 'x-forwarded-for': `10.${user >> 16}.${(user >> 8) & 255}.${user & 255}` }),
    answerOf: (user) => async (page) => {
      if (asksFor(page, 'address')) return { fields: { address: `person${user}@acme.test` } };
      if (asksFor(page, 'code')) return { fields: { code: await codeOf(user) } };
      return asksFor(page, 'decision') ? { press: 'allow' } : null;
    },
  };
};
