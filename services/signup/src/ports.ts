import type { Flow } from './domain/flow.ts';

/** The signups that go on, each for an hour. */
export interface FlowStore {
  insert(flow: Flow): Promise<void>;
  /** By the hash of its session. */
  get(sessionHash: string): Promise<Flow | null>;
  /** Atomic. `change` begins with what was read and runs again when another writer won; null from it changes nothing. Answers the flow as it is then, null when there is none. */
  update(read: Flow, change: (flow: Flow) => Flow | null): Promise<Flow | null>;
  forgetExpired(now: Date): Promise<void>;
}

/** A workspace that is being made for an address. */
export interface Creation {
  readonly flowId: string;
  readonly name: string;
  readonly expiresAt: Date;
}

/** Lets one of several concurrent signups of an address create the workspace. */
export interface CreationStore {
  /** Stores the creation unless another one of the address has not expired at `now`; answers the one that is then stored. */
  claim(address: string, creation: Creation, now: Date): Promise<Creation>;
  forgetExpired(now: Date): Promise<void>;
}

interface CodeFlow {
  readonly flowId: string;
  /** What the agent of the flow alone has. */
  readonly secret: string;
}

/** Codes that were mailed, each for one flow. */
export interface MailedCodes {
  issue(flow: CodeFlow & { readonly expiresAt: Date }): Promise<string>;
  /** Counts the try. `right` is answered once; `over` when it was used, has expired or was tried too often. `whenRight` comes before it is spent; a try in which it fails does not count. */
  check(tried: CodeFlow & { readonly code: string; readonly whenRight: () => Promise<void> }): Promise<'right' | 'wrong' | 'over'>;
}

interface ThrottleLimit {
  readonly limit: number;
  readonly windowMs: number;
}

/** Of all codes for a mailbox, and of those that a single client asks for. */
interface MailboxWindow extends ThrottleLimit {
  readonly perClient: number;
}

type Throttled = { readonly allowed: true } | { readonly allowed: false; readonly retryAfterSeconds: number };

/** Counts over all replicas. */
export interface Throttle {
  /** Counts one use of the key, unless `limit` of them lie within the window already. */
  take(key: string, limit: ThrottleLimit): Promise<Throttled>;
  /** Counts a code for the mailbox in each window. */
  takeForMailbox(asked: { readonly mailbox: string; readonly client: string }, windows: readonly MailboxWindow[]): Promise<Throttled>;
}

/** Resolves when the mail is stored. */
export type MailCode = (mail: {
  readonly flowId: string;
  readonly to: string;
  readonly code: string;
  readonly until: Date;
}) => Promise<void>;

/** An address that a code has proven. `domain`: the registrable one of its company; null where people of the domain do not belong together. */
export interface ProvenAddress {
  readonly address: string;
  readonly domain: string | null;
}

interface ProvenFlow extends ProvenAddress {
  readonly flowId: string;
}

/** Everything but `lookUp` answers the same when it is asked again; `closed` while the account is disabled. */
export interface Identity {
  lookUp(proven: ProvenAddress): Promise<{
    readonly isClosed: boolean;
    /** Those that the address may join. */
    readonly workspaces: readonly { readonly id: string; readonly name: string }[];
  }>;
  /** An account that does not exist yet is made together with its membership. */
  join(proven: ProvenAddress & { readonly teamId: string }): Promise<{ readonly userId: string } | 'closed' | 'forbidden'>;
  create(
    flow: Omit<ProvenFlow, 'domain'> & { readonly name: string },
  ): Promise<{ readonly userId: string; readonly teamId: string; readonly trialEndsAt: Date | null } | 'closed'>;
  /** Lets people with a proven address of the domain join the workspace that the flow created. */
  openForDomain(flow: ProvenFlow & { readonly domain: string }): Promise<'opened' | 'closed' | 'forbidden'>;
}
