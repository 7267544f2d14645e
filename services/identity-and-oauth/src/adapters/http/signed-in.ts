import type { Guard, GuardRequest } from '@bubbles/http/routes/guard.ts';
import { type Redirection, seeOther } from '@bubbles/http/routes/reply.ts';
import type { App } from '../../app.ts';
import type { Account } from '../../domain/account.ts';
import { returnPath } from '../../domain/sign-in.ts';
import { hashToken } from '../../domain/token.ts';
import type { PageSession } from '../../ports.ts';

/** The signed-in user of this browser. */
export interface SignedIn extends PageSession {
  /** The token of the session, which only this browser has: the forms of its pages are bound to it. */
  readonly sessionToken: string;
}

/** What the routes of all pages have in common. */
export const APP_PAGE = { tag: 'App pages', errorFormat: 'page', documented: false } as const;

/** The name has the prefix that binds a cookie to this very host, where there is https. */
export const sessionCookieName = (publicBaseUrl: string) => (publicBaseUrl.startsWith('https:') ? '__Host-session' : 'session');

const SIGN_IN_PATH = '/app/sign-in';

type Ports = Pick<App, 'checkCredentials'>;

/** `closed`: the account of the signed-in user is closed. Null: nobody is signed in. */
const sessionIn = async ({ checkCredentials }: Ports, { cookie, publicBaseUrl }: GuardRequest): Promise<SignedIn | 'closed' | null> => {
  const sessionToken = cookie(sessionCookieName(publicBaseUrl)) ?? '';
  const check = { hash: hashToken(sessionToken), jwt: null, accepts: ['session'], counted: false, countedElsewhere: null } as const;
  const [result] = sessionToken === '' ? [] : await checkCredentials([check]);
  if (result?.outcome === 'refused' && result.refusal === 'account_deleted') return 'closed';
  if (result?.outcome !== 'allowed') return null;
  const { account, accountVersion, id } = result.credential;
  return { account, accountVersion, sessionId: id, sessionToken };
};

const toSignIn = ({ target }: GuardRequest): Redirection => seeOther(`${SIGN_IN_PATH}?return_to=${encodeURIComponent(returnPath(target))}`);

const BY_COOKIE = { security: [], gatewayMark: 'none', callers: null, isCounted: false, refusals: [], reads: 'Cookie' } as const;

/** Requires a signed-in user; redirects others to sign in and back to this path and query. */
export const signedInGuard = (ports: Ports): Guard<SignedIn> => ({
  ...BY_COOKIE,
  admit: async (request) => {
    const session = await sessionIn(ports, request);
    return session === null || session === 'closed' ? toSignIn(request) : session;
  },
});

/** For a form that is sent to a path without a page: whoever has to sign in first goes on to the page that the form is on. */
export const backToPage = <I extends object>(guard: Guard<I>, pageOf: (target: string) => string): Guard<I> => ({
  ...guard,
  admit: (request, ports) => guard.admit({ ...request, target: pageOf(request.target) }, ports),
});

/** Also admits a user whose account was closed while the page was open, so that the form gets an answer. */
export const signedInOrClosedGuard = (ports: Ports): Guard<{ readonly account: Account | null }> => ({
  ...BY_COOKIE,
  admit: async (request) => {
    const session = await sessionIn(ports, request);
    if (session === 'closed') return { account: null };
    return session === null ? toSignIn(request) : { account: session.account };
  },
});
