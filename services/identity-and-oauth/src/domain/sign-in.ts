/** One attempt of a browser to sign in to the account that has an address, or to open one there. */
export interface SignIn {
  readonly id: string;
  /** Lower-case hex SHA-256 of the secret in the cookie of the browser that began it. */
  readonly browserHash: string;
  /** Folded. */
  readonly address: string;
  /** Where the browser goes afterwards. */
  readonly returnTo: string;
  /** Id for the account that may be created; fixed, so that a repeated request creates only one. */
  readonly newAccountId: string;
  readonly expiresAt: Date;
  /** The code was right. */
  readonly isProven: boolean;
}

const HOME = '/app/';
const OWN_PATHS = [HOME, '/oauth/interaction/'];
const SIGN_IN_PAGES = '/app/sign-in';
const MAX_PATH = 2048;

/** A path of our own pages as it was given, for everything else the home page: no other site, nothing that a browser would read as another path. */
export const returnPath = (given: string | null): string => {
  if (given === null || given.length > MAX_PATH || !/^\/[\x21-\x5b\x5d-\x7e]*$/.test(given)) return HOME;
  const { pathname, search } = new URL(given, 'http://own.invalid');
  const isOwn = pathname + search === given && OWN_PATHS.some((path) => given.startsWith(path)) && !given.startsWith(SIGN_IN_PAGES);
  return isOwn ? given : HOME;
};

const MINUTE_MS = 60_000;
const CODE_MS = 10 * MINUTE_MS;
/** Long enough to read the mail, and to say a name afterwards. */
const SIGN_IN_MS = 30 * MINUTE_MS;
/** A form that is sent twice gets in twice. */
const REPEAT_MS = 30_000;

const later = (at: Date, ms: number): Date => new Date(at.getTime() + ms);
export const signInTimes = (at: Date) => ({
  codeUntil: later(at, CODE_MS),
  signInUntil: later(at, SIGN_IN_MS),
  repeatUntil: later(at, REPEAT_MS),
});

/** Limits on the codes that are mailed to one mailbox, which gets at most 90 in a day with the 60 of the reserve. */
export const MAILBOX_LIMITS = [
  { limit: 5, perClient: 3, windowMs: 15 * MINUTE_MS },
  // That is 450 tries a day at most: to guess a code of six digits takes years.
  { limit: 30, perClient: 10, windowMs: 24 * 60 * MINUTE_MS },
] as const;
export const CLIENT_WINDOW_MS = 10 * MINUTE_MS;
