import type { Guard } from '@bubbles/http/routes/guard.ts';
import { seeOther } from '@bubbles/http/routes/reply.ts';
import type { App } from '../../app.ts';
import type { Account } from '../../domain/account.ts';
import { hashToken } from '../../domain/token.ts';

/** Who is signed in in this browser. */
export interface SignedIn {
  readonly account: Account;
  readonly sessionId: string;
  /** The token of the session, which only this browser has: the forms of its pages are bound to it. */
  readonly sessionToken: string;
}

/** What the routes of all pages have in common. */
export const APP_PAGE = { tag: 'App pages', errorFormat: 'page', documented: false } as const;

/** The name has the prefix that binds a cookie to this very host, where there is https. */
export const sessionCookieName = (publicBaseUrl: string) => (publicBaseUrl.startsWith('https:') ? '__Host-session' : 'session');

const SIGN_IN_PATH = '/app/sign-in';

/** A page for whoever is signed in; others are sent to sign in, and come back to this path and query. */
export const signedInGuard = ({ checkCredentials }: Pick<App, 'checkCredentials'>): Guard<SignedIn> => ({
  security: [],
  gatewayMark: 'none',
  callers: null,
  isCounted: false,
  refusals: [],
  reads: 'Cookie',
  admit: async ({ cookie, target, publicBaseUrl }) => {
    const sessionToken = cookie(sessionCookieName(publicBaseUrl)) ?? '';
    const check = { hash: hashToken(sessionToken), jwt: null, accepts: ['session'], counted: false, countedElsewhere: null } as const;
    const [result] = sessionToken === '' ? [] : await checkCredentials([check]);
    if (result?.outcome !== 'allowed') return seeOther(`${SIGN_IN_PATH}?return_to=${encodeURIComponent(target)}`);
    const { account, id } = result.credential;
    return { account, sessionId: id, sessionToken };
  },
});
