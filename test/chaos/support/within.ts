import { setTimeout as pause } from 'node:timers/promises';
import { scaled } from './scale.ts';

/** What is waited for, and how things stand when it does not come. */
export interface Awaited {
  readonly what: string;
  /** Said one by one: of those who are asked some may be what hangs. */
  readonly state?: () => readonly (string | Promise<string>)[];
  readonly limitMs?: number;
}

/** Of one step of a test, on the slowest machine; a test takes several. */
const STEP_LIMIT_MS = scaled({ short: 2 * 60_000, long: 10 * 60_000 });
const SAY_LIMIT_MS = 5000;
const LOOK_MS = 20;

/** Null when it takes longer. */
const unlessLate = async <T>(work: Promise<T>, limitMs: number): Promise<{ readonly value: T } | null> => {
  const over = new AbortController();
  try {
    return await Promise.race([work.then((value) => ({ value })), pause(limitMs, null, { signal: over.signal })]);
  } finally {
    over.abort();
  }
};

const heard = async (saying: string | Promise<string>): Promise<string> => {
  try {
    return (await unlessLate(Promise.resolve(saying), SAY_LIMIT_MS))?.value ?? '(silence)';
  } catch (error) {
    return String(error);
  }
};

/** What the work answers; refuses when it takes longer than anything reasonable, and says how things stand. The work hears that it is over. */
export const within = async <T>(
  { what, state = () => [], limitMs = STEP_LIMIT_MS }: Awaited,
  work: (over: AbortSignal) => Promise<T>,
): Promise<T> => {
  const over = new AbortController();
  try {
    const end = await unlessLate(work(over.signal), limitMs);
    if (end !== null) return end.value;
    const said = await Promise.all(state().map(heard));
    throw new Error([`not within ${Math.round(limitMs / 1000)} s: ${what}`, ...said].join('\n  '));
  } finally {
    over.abort();
  }
};

/** Looks until it is so. */
export const untilSo = (awaited: Awaited, isSo: () => boolean | Promise<boolean>): Promise<void> =>
  within(awaited, async (over) => {
    while (!(await isSo())) await pause(LOOK_MS, undefined, { signal: over });
  });
