import { timingSafeEqual } from 'node:crypto';

/** Providers whose calendars can be connected. */
export const CALENDAR_PROVIDERS = ['google', 'microsoft'] as const;
export type CalendarProviderName = (typeof CALENDAR_PROVIDERS)[number];

/** Owner of the calendar to connect. */
interface CalendarOwner {
  readonly flowId: string;
  readonly userId: string;
}
/** A signup that has come to its end. */
export interface CalendarFlow extends CalendarOwner {
  readonly address: string;
  /** The links of the flow end with it. */
  readonly until: Date;
}

/** A consent that a browser was sent away for; it comes back with the browser's cookie, sealed. */
export interface CalendarConsent extends CalendarOwner {
  readonly provider: CalendarProviderName;
  readonly state: string;
  /** PKCE code verifier. */
  readonly verifier: string;
  readonly untilMs: number;
}

export const CONSENT_SECONDS = 600;

/** What the browser says on its way back. */
interface SentBack {
  readonly provider: CalendarProviderName;
  readonly state: string;
  readonly now: Date;
}

const isSame = (one: Buffer, other: Buffer): boolean => one.length === other.length && timingSafeEqual(one, other);

export const isAnswerTo = ({ provider, state, untilMs }: CalendarConsent, sent: SentBack): boolean =>
  provider === sent.provider && isSame(Buffer.from(state), Buffer.from(sent.state)) && sent.now.getTime() < untilMs;

/** That a user has allowed us to read one calendar. */
export interface CalendarGrant extends CalendarOwner {
  /** Derived from the user and the account at the provider, so that connecting again replaces the grant. */
  readonly id: string;
  readonly provider: CalendarProviderName;
  /** The refresh token, under the grant's id. */
  readonly sealedToken: string;
  readonly connectedAt: Date;
  /** Life of the account at its first check; null before. */
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
