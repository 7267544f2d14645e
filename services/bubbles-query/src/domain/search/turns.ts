/** How long work may hold the event loop before others get a turn. */
const TURN_MS = 8;

/** Lets others run when the turn has been used up. */
export type Breathe = () => Promise<void>;

export const takeTurns = (elapsedMs: () => number): Breathe => {
  let began = elapsedMs();
  return async () => {
    if (elapsedMs() - began < TURN_MS) return;
    await new Promise<void>((resolve) => setImmediate(resolve));
    began = elapsedMs();
  };
};
