import { SERVICE_VARIABLES, type ServiceSettings, serviceSettings } from '@bubbles/host/service-settings.ts';
import { type Environment, readConfig } from '@bubbles/kernel/config.ts';
import { sealKeys } from '@bubbles/kernel/config-values.ts';
import type { SealKey } from '@bubbles/kernel/seal.ts';
import { z } from 'zod';

/** What identity itself has to know. */
export interface Config {
  /** Origin under which clients reach the product, without a trailing slash. */
  readonly publicBaseUrl: string;
  /** Seal the keys that sign assertions; the first one seals. */
  readonly sealKeys: readonly SealKey[];
  /** At start, claims of this store belong to a process that is gone: true where there is one process only. */
  readonly releaseLeasesAtStart: boolean;
}

/** What its process has to know. */
export interface ProcessConfig extends ServiceSettings {
  readonly identity: Config;
}

const Variables = z.object({ ...SERVICE_VARIABLES, SEAL_KEYS: sealKeys() });

export const readIdentityConfig = (env: Environment): ProcessConfig => {
  const read = readConfig(Variables, env);
  const settings = serviceSettings(read);
  return {
    ...settings,
    identity: { publicBaseUrl: settings.publicBaseUrl, sealKeys: read.SEAL_KEYS, releaseLeasesAtStart: false },
  };
};
