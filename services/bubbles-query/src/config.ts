/** What bubbles-query itself has to know; the environment of its process is read in `main.ts`. */
export interface Config {
  /** Origin and path that deep links begin with, without a trailing slash. */
  readonly appBaseUrl: string;
  /** Authenticate cursors. The previous key is accepted too, for a day after a change. */
  readonly cursorKeys: { readonly current: Buffer; readonly previous: Buffer | null };
  /** Makes the ids of people without an account; never changes, or they would. */
  readonly personKey: Buffer;
  /** At start, claims of this store belong to a process that is gone: true where there is one process only. */
  readonly releaseLeasesAtStart: boolean;
}
