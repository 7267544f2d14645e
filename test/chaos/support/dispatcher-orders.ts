/** What the test says to a dispatcher's process, and what it hears. */
export interface DispatcherSettings {
  /** What it sends says so: no two processes of a test have one name. */
  readonly name: string;
  /** A data file, or a database of a MongoDB. */
  readonly store: { readonly file: string } | { readonly url: string; readonly name: string };
  /** The broker that tells of bubbles; null where the test does. */
  readonly amqpUrl: string | null;
  readonly receiverUrl: string;
  readonly subscriptions: number;
  readonly secret: string;
  /** Longer than what may be away in the test, short where a killed process is to be followed soon. */
  readonly leaseMs: number;
  readonly world: World;
}

/** What is so around every dispatcher. */
export interface World {
  /** Silent: it answers nobody, and those who wait are turned away when it is back. */
  readonly identity: 'up' | 'silent';
  /** How far their clock is ahead of the machine's. */
  readonly aheadMs: number;
}

export type Task =
  | { readonly task: 'take'; readonly bubble: string }
  | { readonly task: 'count-open' }
  | { readonly task: 'look' }
  | { readonly task: 'count-asking' }
  | { readonly task: 'count-slots' }
  | { readonly task: 'tell-open' }
  | { readonly task: 'settle' }
  | { readonly task: 'live-in'; readonly world: World };

export interface Answers {
  readonly take: true;
  /** Deliveries that are not finished. */
  readonly 'count-open': number;
  readonly look: Standing;
  /** Questions to identity that wait for an answer. */
  readonly 'count-asking': number;
  /** Slots for attempts that are taken. */
  readonly 'count-slots': number;
  /** Deliveries that are not finished, in words. */
  readonly 'tell-open': string;
  readonly settle: true;
  readonly 'live-in': true;
}

/** What the store holds. */
export interface Standing {
  readonly deliveries: readonly StandingDelivery[];
  readonly subscriptions: readonly { readonly id: string; readonly status: string; readonly fails: number }[];
}
export interface StandingDelivery {
  readonly id: string;
  readonly status: string;
  /** Of each recorded attempt in turn. */
  readonly outcomes: readonly string[];
}

export interface Order {
  readonly number: number;
  readonly task: Task;
}
export interface Ready {
  readonly ready: true;
}
/** Refused: why the store or somebody else was away; what was asked may be asked again. */
export type Reply =
  | { readonly number: number; readonly refused: null; readonly answer: Answers[Task['task']] }
  | { readonly number: number; readonly refused: string };
export type Report = Ready | Reply;
