const SHARE = 0.1;
/** Lets a quiet gateway retry at all, and bounds the burst after a quiet time. */
const MAX_SAVED = 10;

/** Retries may be a tenth of the requests, so that they cannot multiply an outage. */
export interface RetryBudget {
  /** A first attempt was made. */
  earn(): void;
  /** Takes the right to one retry; false when there is none. */
  spend(): boolean;
}

export const createRetryBudget = (): RetryBudget => {
  let saved = MAX_SAVED;
  return {
    earn: () => {
      saved = Math.min(MAX_SAVED, saved + SHARE);
    },
    spend: () => {
      if (saved < 1) return false;
      saved -= 1;
      return true;
    },
  };
};
