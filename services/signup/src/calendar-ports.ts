import type { CalendarFlow, CalendarGrant, CalendarProviderName } from './domain/calendar.ts';

/** The links with which the user of a signup connects a calendar in a browser. Opening one changes nothing before the user has consented. */
export interface CalendarLinks {
  /** The same again for the same flow. */
  linksFor(flow: CalendarFlow): Readonly<Record<CalendarProviderName, string>>;
  /** Null for a token that is none of ours for this provider, or is over. */
  flowOf(provider: CalendarProviderName, token: string): CalendarFlow | null;
}

/** A provider of calendars, by OAuth 2.0 with PKCE. */
export interface CalendarProvider {
  /** False without a client id: nobody can consent then. */
  readonly isConfigured: boolean;
  /** Where the user consents. */
  consentUrl(request: { readonly state: string; readonly verifier: string }): string;
  /**
   * `refused`: the code is over, was used, or belongs to another consent. `incomplete`: it gives no lasting access to a calendar.
   * Rejects with `unavailable` when the provider does not answer as it should.
   */
  exchange(code: string, verifier: string): Promise<CalendarTokens | 'refused' | 'incomplete'>;
  /** Resolves when the provider does not know the token any more. Rejects with `unavailable` when it could not be asked. */
  revoke(refreshToken: string): Promise<void>;
}
interface CalendarTokens {
  readonly refreshToken: string;
  /** The account at the provider. */
  readonly subject: string;
}

/** A grant that somebody works on; what is written to it holds only while the lease does. */
export interface LeasedGrant {
  readonly grant: CalendarGrant;
  readonly lease: string;
}

/** What users have allowed. A grant is checked after it came, and whenever its account has changed. */
export interface CalendarGrantStore {
  /** Replaces one of the same id; it is checked at once. */
  put(grant: CalendarGrant): Promise<void>;
  /** Whether a calendar of the provider was connected by this flow. */
  isConnected(flowId: string, provider: CalendarProviderName): Promise<boolean>;
  checkAllOf(userId: string): Promise<void>;
  /** Nothing is to be done with it until its account changes. */
  settle(leased: LeasedGrant, life: number): Promise<void>;
  postpone(leased: LeasedGrant, until: Date): Promise<void>;
  erase(leased: LeasedGrant): Promise<void>;
}

/** Live; rejects with `unavailable` without an answer. */
export type AccountStateOf = (userId: string) => Promise<{ readonly isActive: boolean; readonly life: number }>;
