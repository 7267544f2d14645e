import type { KeyObject } from 'node:crypto';
import { ASKING_VARIABLES, SERVICE_VARIABLES, type ServiceSettings, serviceSettings } from '@bubbles/host/service-settings.ts';
import { type Environment, readConfig } from '@bubbles/kernel/config.ts';
import { base64Key, baseUrl, wholeNumber } from '@bubbles/kernel/config-values.ts';
import { z } from 'zod';

/** What bubbles-query itself has to know. */
export interface Config {
  /** Origin and path that deep links begin with, without a trailing slash. */
  readonly appBaseUrl: string;
  /** Authenticate cursors. The previous key is accepted too, for a day after a change. */
  readonly cursorKeys: { readonly current: Buffer; readonly previous: Buffer | null };
  /** Makes the ids of people without an account; never changes, or they would. */
  readonly personKey: Buffer;
  readonly search: {
    /** Build large indexes beside the event loop. */
    readonly threads: number;
    /** For the indexes of the callers that searched last. */
    readonly memoryBytes: number;
  };
  /** At start, claims of this store belong to a process that is gone: true where there is one process only. */
  readonly releaseLeasesAtStart: boolean;
}

/** What its process has to know. */
export interface ProcessConfig extends ServiceSettings {
  readonly bubbles: Config;
  /** Where identity is. */
  readonly identityUrls: readonly string[];
  /** Signs the tokens that identity knows this service by. */
  readonly serviceKey: KeyObject;
}

const KEY_BYTES = 32;
const MIB = 2 ** 20;
export const SEARCH_DEFAULTS: Config['search'] = { threads: 1, memoryBytes: 1024 * MIB };

const Variables = z.object({
  ...SERVICE_VARIABLES,
  ...ASKING_VARIABLES,
  APP_BASE_URL: baseUrl(),
  CURSOR_KEY: base64Key(KEY_BYTES),
  CURSOR_KEY_PREVIOUS: base64Key(KEY_BYTES).nullable().default(null),
  PERSON_KEY: base64Key(KEY_BYTES),
  SEARCH_THREADS: wholeNumber(1, 16).default(SEARCH_DEFAULTS.threads),
  SEARCH_MEMORY_MIB: wholeNumber(64, 65_536).default(SEARCH_DEFAULTS.memoryBytes / MIB),
});

export const readBubblesConfig = (env: Environment): ProcessConfig => {
  const read = readConfig(Variables, env);
  return {
    ...serviceSettings(read),
    bubbles: {
      appBaseUrl: read.APP_BASE_URL,
      cursorKeys: { current: read.CURSOR_KEY, previous: read.CURSOR_KEY_PREVIOUS },
      personKey: read.PERSON_KEY,
      search: { threads: read.SEARCH_THREADS, memoryBytes: read.SEARCH_MEMORY_MIB * MIB },
      releaseLeasesAtStart: false,
    },
    identityUrls: read.IDENTITY_URLS,
    serviceKey: read.SERVICE_KEY,
  };
};
