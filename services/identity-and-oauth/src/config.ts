import type { SealKey } from '@bubbles/shared/seal.ts';

/** What identity itself has to know; the environment of its process is read in `main.ts`. */
export interface Config {
  /** Origin under which clients reach the product, without a trailing slash. */
  readonly publicBaseUrl: string;
  /** Seal the keys that sign assertions; the first one seals. */
  readonly sealKeys: readonly SealKey[];
  /** At start, claims of this store belong to a process that is gone: true where there is one process only. */
  readonly releaseLeasesAtStart: boolean;
}
