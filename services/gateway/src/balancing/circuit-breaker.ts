const SAMPLE = 20;
const FAILURES_TO_OPEN = SAMPLE / 2;
const WINDOW_MS = 10_000;
const OPEN_MS = 2_000;
/** Each request to a silent replica waits for its whole time limit: two of them are enough. */
const SILENT_WEIGHT = FAILURES_TO_OPEN / 2;

interface Sample {
  readonly at: number;
  /** Weight of a failure; 0 for a success. */
  readonly weight: number;
}

/** Guards one address. Only transport failures count against it; an answer of any status is a success. Times are monotonic milliseconds. */
export class CircuitBreaker {
  state: 'closed' | 'open' | 'half-open' = 'closed';
  #openUntil = 0;
  #samples: Sample[] = [];

  /** Would `tryPass` say yes? */
  isReady(now: number): boolean {
    return this.state === 'closed' || (this.state === 'open' && now >= this.#openUntil);
  }

  /** May a request go there now? The first one after the pause is the probe, and its result decides. */
  tryPass(now: number): boolean {
    if (!this.isReady(now)) return false;
    if (this.state === 'open') this.state = 'half-open';
    return true;
  }

  succeeded(now: number): void {
    if (this.state !== 'closed') {
      this.state = 'closed';
      this.#samples = [];
    }
    this.#samples.push({ at: now, weight: 0 });
    if (this.#samples.length > SAMPLE) this.#samples.shift();
  }

  /** `silent`: its time limit passed, and nobody else had an answer meanwhile. The next probe goes at once then, since it waits long enough itself. */
  failed(now: number, silent = false): void {
    if (this.state === 'open') return;
    this.#samples.push({ at: now, weight: silent ? SILENT_WEIGHT : 1 });
    if (this.#samples.length > SAMPLE) this.#samples.shift();
    const failures = this.#samples.reduce((sum, { at, weight }) => sum + (now - at <= WINDOW_MS ? weight : 0), 0);
    if (this.state === 'half-open' || failures >= FAILURES_TO_OPEN) this.#open(silent ? now : now + OPEN_MS);
  }

  /** The probe ended without a result: its client left, or it went to another replica. */
  abandoned(now: number): void {
    if (this.state === 'half-open') this.#open(now);
  }

  #open(until: number): void {
    this.state = 'open';
    this.#openUntil = until;
    this.#samples = [];
  }
}

const RETRY_SHARE = 0.1;
/** Lets a quiet gateway retry at all, and bounds the burst after a quiet time. */
const MAX_SAVED_RETRIES = 10;

/** Retries may be a tenth of the requests, so that they cannot multiply an outage. */
export class RetryBudget {
  #saved = MAX_SAVED_RETRIES;

  /** A first attempt was made. */
  earn(): void {
    this.#saved = Math.min(MAX_SAVED_RETRIES, this.#saved + RETRY_SHARE);
  }

  /** Takes the right to one retry; false when there is none. */
  spend(): boolean {
    if (this.#saved < 1) return false;
    this.#saved -= 1;
    return true;
  }
}
