import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';

/** Whose calendars can be connected. */
export const CALENDAR_PROVIDERS = ['google', 'microsoft'] as const;
export type CalendarProviderName = (typeof CALENDAR_PROVIDERS)[number];

/** Whose calendar is to be connected. */
export interface CalendarOwner {
  readonly flowId: string;
  readonly userId: string;
}
export interface CalendarFlow extends CalendarOwner {
  /** The links of the flow end with it. */
  readonly until: Date;
}

const KEY_BYTES = 32;
/** What a link may hold: two ids and a time, with their signature. */
export const MAX_LINK_LENGTH = 512;

/** Of a master key, for links alone. */
export const linkKeyOf = (master: Buffer): Buffer => Buffer.from(hkdfSync('sha256', master, '', 'calendar link', KEY_BYTES));

const isSame = (one: Buffer, other: Buffer): boolean => one.length === other.length && timingSafeEqual(one, other);

const signatureOf = (key: Buffer, provider: CalendarProviderName, payload: string): Buffer =>
  createHmac('sha256', key).update(`${provider} ${payload}`).digest();

/** What stands in a link: good for this provider and flow. The same again for the same. */
export const linkToken = (key: Buffer, provider: CalendarProviderName, { flowId, userId, until }: CalendarFlow): string => {
  const payload = Buffer.from(JSON.stringify([flowId, userId, until.getTime()])).toString('base64url');
  return `${payload}.${signatureOf(key, provider, payload).toString('base64url')}`;
};

interface SentToken {
  readonly provider: CalendarProviderName;
  readonly token: string;
  readonly now: Date;
}

/** Null when none of the keys has signed the token for this provider, or when it is over. */
export const readLinkToken = (keys: readonly Buffer[], { provider, token, now }: SentToken): CalendarOwner | null => {
  const [payload = '', signature = '', ...rest] = token.split('.');
  const sent = Buffer.from(signature, 'base64url');
  if (rest.length > 0 || !keys.some((key) => isSame(signatureOf(key, provider, payload), sent))) return null;
  // Only `linkToken` makes what is signed.
  const [flowId, userId, untilMs] = JSON.parse(Buffer.from(payload, 'base64url').toString()) as [string, string, number];
  return now.getTime() < untilMs ? { flowId, userId } : null;
};

/** A consent that a browser was sent away for; it comes back with the browser's cookie, sealed. */
export interface CalendarConsent extends CalendarOwner {
  readonly provider: CalendarProviderName;
  readonly state: string;
  /** Of PKCE. */
  readonly verifier: string;
  readonly untilMs: number;
}

export const CONSENT_SECONDS = 600;

export const isAnswerTo = (
  { provider, state, untilMs }: CalendarConsent,
  sent: Omit<SentToken, 'token'> & { readonly state: string },
): boolean => provider === sent.provider && isSame(Buffer.from(state), Buffer.from(sent.state)) && sent.now.getTime() < untilMs;

/** That a user has allowed us to read one calendar. */
export interface CalendarGrant extends CalendarOwner {
  /** Of the user and the account at the provider: who connects it again replaces it. */
  readonly id: string;
  readonly provider: CalendarProviderName;
  /** The refresh token, under the grant's id. */
  readonly sealedToken: string;
  readonly connectedAt: Date;
  /** Of the account when it was checked first; null before that. */
  readonly life: number | null;
  /** How often the provider could not be asked to revoke it. */
  readonly tries: number;
}

const MINUTE_MS = 60_000;
const LONGEST_PAUSE_MS = 60 * MINUTE_MS;
/** Three weeks of pauses. */
const MAX_TRIES = 500;

/** When to ask the provider again; null when it was asked often enough, and the grant is erased all the same. */
export const nextRevocation = ({ tries }: CalendarGrant, now: Date): Date | null =>
  tries + 1 >= MAX_TRIES ? null : new Date(now.getTime() + Math.min(MINUTE_MS * 2 ** Math.min(tries, 10), LONGEST_PAUSE_MS));
