import { settingsIn, settingsOf } from '@bubbles/host/variables.ts';
import { parseAuthority } from '@bubbles/http/wire/framing.ts';
import { ConfigError, type Environment, readConfig } from '@bubbles/kernel/config.ts';
import { commaList, flag, port } from '@bubbles/kernel/config-values.ts';
import { PRODUCT } from '@bubbles/services/product.ts';
import { z } from 'zod';
import { type CallerRules, hostOf } from './control/callers.ts';

const DEFAULT_PORT = 8080;
const DEFAULT_FOLDER = '.data';
export const MEMORY = ':memory:';

export interface SandboxConfig {
  readonly host: string;
  readonly port: number;
  readonly callers: CallerRules;
  /** The data folder, or `:memory:`. */
  readonly data: string;
  /** Set the data of before aside. */
  readonly fresh: boolean;
  /** Receivers on this machine are refused, as in production. */
  readonly strictReceivers: boolean;
  /** Settings of the services that were given. */
  readonly settings: Environment;
  readonly logLevel: 'debug' | 'info' | 'warn' | 'error' | 'silent';
}

const hostNames = () =>
  commaList()
    .transform((names) => names.map(hostOf))
    .refine(
      (names) => names.every((name) => parseAuthority(name)?.port === null),
      'must be a comma-separated list of host names and addresses',
    )
    .default([]);

const Variables = z.object({
  HOST: z.string().default('localhost'),
  PORT: port().default(DEFAULT_PORT),
  SANDBOX_DATA: z.string().default(DEFAULT_FOLDER),
  SANDBOX_ALLOWED_HOSTS: hostNames(),
  SANDBOX_REMOTE_CONTROL: flag().default(false),
  SANDBOX_STRICT_RECEIVERS: flag().default(false),
  LOG_LEVEL: z.enum(['debug', 'info', 'warn', 'error', 'silent']).default('error'),
});

/** Those of a service that are no matter of the machine count here too. */
const WithSettings = z.object({ ...settingsOf(PRODUCT.definitions), ...Variables.shape });

/** The flags `--fresh` and `--data <folder>` and the environment; flags win. */
export function readSandboxConfig(args: readonly string[], env: Environment): SandboxConfig {
  readConfig(WithSettings, env);
  const variables = readConfig(Variables, env);
  let data = variables.SANDBOX_DATA;
  let fresh = false;
  const rest = [...args];
  for (let flagName = rest.shift(); flagName !== undefined; flagName = rest.shift()) {
    if (flagName === '--fresh') fresh = true;
    else if (flagName === '--data') data = rest.shift() ?? '';
    else throw new ConfigError([`${flagName}: there is no such option; there are --fresh and --data <folder>`]);
  }
  if (data === '') throw new ConfigError(['--data: needs a folder, or :memory:']);
  return {
    host: variables.HOST,
    port: variables.PORT,
    callers: {
      hosts: [hostOf(variables.HOST), ...variables.SANDBOX_ALLOWED_HOSTS],
      remote: variables.SANDBOX_REMOTE_CONTROL,
    },
    data,
    fresh,
    strictReceivers: variables.SANDBOX_STRICT_RECEIVERS,
    settings: settingsIn(PRODUCT.definitions, env),
    logLevel: variables.LOG_LEVEL,
  };
}
