import type { SignIn } from './domain/sign-in.ts';

export interface SignInStore {
  insert(signIn: SignIn): Promise<void>;
  get(id: string): Promise<SignIn | null>;
  /** The code was right. */
  prove(id: string): Promise<void>;
  /** Ends it then, unless it ends before. */
  endAt(id: string, at: Date): Promise<void>;
  forgetExpired(now: Date): Promise<void>;
}

/** Mailed codes, each for one flow and the holder of its secret. */
export interface MailedCodes {
  /** Replaces the one that the flow had. */
  issue(flow: { readonly flowId: string; readonly secret: string; readonly expiresAt: Date }): Promise<string>;
  /** Counts the try. `right` is answered once; `over` when it was used, has expired or was tried too often. `whenRight` comes before it is spent. */
  check(tried: {
    readonly flowId: string;
    readonly secret: string;
    readonly code: string;
    readonly whenRight: () => Promise<void>;
  }): Promise<'right' | 'wrong' | 'over'>;
}

/** Resolves when the mail is stored. */
export type MailCode = (mail: {
  readonly signInId: string;
  readonly to: string;
  readonly code: string;
  readonly until: Date;
}) => Promise<void>;

interface ThrottleLimit {
  readonly limit: number;
  readonly windowMs: number;
}

/** Of all codes for a mailbox, and of those that a single client asks for. */
interface MailboxWindow extends ThrottleLimit {
  readonly perClient: number;
}

/** Rate limits over all replicas. */
export interface Throttle {
  /** Counts one use of the key unless the window already holds `limit` uses. */
  take(key: string, limits: ThrottleLimit): Promise<ThrottleDecision>;
  /** Counts a code for the mailbox in each window, or in a reserve, which keeps some for sites that have not asked yet. */
  takeForMailbox(
    asked: { readonly mailbox: string; readonly client: string; readonly site: string },
    windows: readonly MailboxWindow[],
  ): Promise<ThrottleDecision>;
}
type ThrottleDecision = { readonly allowed: true } | { readonly allowed: false; readonly retryAfterSeconds: number };
