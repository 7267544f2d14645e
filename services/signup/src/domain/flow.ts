import { hash } from 'node:crypto';

/** `closed`: the account at the address is disabled. */
type FlowState = 'started' | 'verified' | 'listed' | 'joined' | 'created' | 'done' | 'closed';

/** What is asked of a flow. `open` lets the people of the user's domain join the created workspace. */
export type Step = 'verify' | 'workspaces' | 'join' | 'create' | 'open' | 'calendar';

/** In which states a step may be asked for. One that was taken before answers again what came of it and does nothing, but for codes and `open`, which count once. */
const ALLOWED: Readonly<Record<Step, readonly FlowState[]>> = {
  verify: ['started'],
  workspaces: ['verified', 'listed', 'joined', 'created', 'done'],
  join: ['listed', 'joined', 'done'],
  create: ['listed', 'created', 'done'],
  open: ['created'],
  calendar: ['joined', 'created', 'done'],
};

/** The workspace step that a flow was told to take, and stays with. */
export type Choice = { readonly action: 'join'; readonly teamId: string } | { readonly action: 'create'; readonly name: string };

export const isSameChoice = (one: Choice, other: Choice): boolean =>
  one.action === 'join' ? other.action === 'join' && one.teamId === other.teamId : other.action === 'create';

/** A workspace that the user created. */
export interface Created {
  readonly name: string;
  /** Null without a trial. */
  readonly trialEndsAt: Date | null;
  /** The flow that made it: another one of the same address got it too. */
  readonly flowId: string;
}

/** A workspace that the user is in now. */
interface Workspace {
  readonly userId: string;
  readonly teamId: string;
  readonly created: Created | null;
}

/** One signup of one agent, from the address to the calendar. */
export interface Flow {
  readonly id: string;
  /** Lower-case hex SHA-256 of the signup session, which the agent alone has. */
  readonly sessionHash: string;
  /** Folded. */
  readonly address: string;
  readonly state: FlowState;
  /** Set before identity is asked, so that of several at once one is taken. */
  readonly choice: Choice | null;
  readonly workspace: Workspace | null;
  /** Domain whose people may join the created workspace; null until requested. */
  readonly openedTo: string | null;
  readonly expiresAt: Date;
  /** Rises with every change, so that nobody acts on what was read before. */
  readonly version: number;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const CODE_MS = 10 * MINUTE_MS;
const later = (at: Date, ms: number): Date => new Date(at.getTime() + ms);

const SESSION_PREFIX = 'svc_signup_';
/** Length of a SHA-256. */
export const SESSION_BYTES = 32;

/** The only form in which a signup session is stored or looked up. */
export const hashSession = (session: string): string => hash('sha256', session, 'hex');

interface NewFlow {
  readonly id: string;
  readonly random: Buffer;
  readonly address: string;
  readonly at: Date;
}

/** A flow that begins, with its session, which goes into the answer and nowhere else. */
export const newFlow = ({ id, random, address, at }: NewFlow) => {
  const session = `${SESSION_PREFIX}${random.toString('base64url')}`;
  const begun = { state: 'started', choice: null, workspace: null, openedTo: null, version: 1 } as const;
  const flow: Flow = { id, sessionHash: hashSession(session), address, ...begun, expiresAt: later(at, HOUR_MS) };
  return { session, flow, codeUntil: later(at, CODE_MS) };
};

export const isAllowed = (step: Step, { state, openedTo }: Flow): boolean =>
  ALLOWED[step].includes(state) && !(step === 'open' && openedTo !== null);

export const domainOf = ({ address }: Pick<Flow, 'address'>): string => address.slice(address.lastIndexOf('@') + 1);

/** How long the starts of one client count together. */
export const CLIENT_WINDOW_MS = HOUR_MS;
/** Limits on the codes that are mailed to one mailbox. A single client gets only a part, so that a stranger locks nobody out. */
export const MAILBOX_LIMITS = [
  { limit: 10, perClient: 3, windowMs: HOUR_MS },
  // That is 150 tries a day at most: to guess a code of six digits takes years.
  { limit: 30, perClient: 10, windowMs: 24 * HOUR_MS },
] as const;
