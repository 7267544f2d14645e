/** How long work may hold the event loop before others get a turn. */
const TURN_MS = 8;

/** Lets others run when the turn has been used up. */
export type Breathe = () => Promise<void>;

export interface Turns {
  /** Milliseconds that never go back. */
  readonly elapsedMs: () => number;
  /** Resolves when the caller's next turn has come. */
  readonly nextTurn: () => Promise<void>;
}

export const takeTurns = ({ elapsedMs, nextTurn }: Turns): Breathe => {
  let began = elapsedMs();
  return async () => {
    if (elapsedMs() - began < TURN_MS) return;
    await nextTurn();
    began = elapsedMs();
  };
};

/** Work that says where others may have a turn, done with such turns. */
export const inTurns = async <T>(work: Generator<null, T>, turns: Turns): Promise<T> => {
  const breathe = takeTurns(turns);
  for (;;) {
    const { done, value } = work.next();
    if (done === true) return value;
    await breathe();
  }
};

/** The same without turns. */
export const atOnce = <T>(work: Generator<null, T>): T => {
  for (;;) {
    const { done, value } = work.next();
    if (done === true) return value;
  }
};
