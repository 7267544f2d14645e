import { type Environment, readConfig } from '@bubbles/kernel/config.ts';
import { flag, wholeNumber } from '@bubbles/kernel/config-values.ts';
import { z } from 'zod';

export interface StackConfig {
  /** Folder of keys, logs, pid files and what was started. */
  readonly home: string;
  /** The first port; those of the services follow. */
  readonly port: number;
  /** Folder of the job `keys`; null where the engines ask for no login. */
  readonly logins: string | null;
  /** False: a process that cannot keep up refuses nothing. */
  readonly shedding: boolean;
}

const HOME = new URL('../../../.stack', import.meta.url).pathname;
const PORT = 8180;
const Variables = z.object({
  STACK_HOME: z.string().default(HOME),
  STACK_PORT: wholeNumber(1024, 65_000).default(PORT),
  STACK_LOGINS: z.string().nullable().default(null),
  SHEDDING: flag().default(true),
});

export const readStackConfig = (env: Environment): StackConfig => {
  const { STACK_HOME, STACK_PORT, STACK_LOGINS, SHEDDING } = readConfig(Variables, env);
  return { home: STACK_HOME, port: STACK_PORT, logins: STACK_LOGINS, shedding: SHEDDING };
};
