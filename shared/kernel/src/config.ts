import { readFileSync } from 'node:fs';
import type { z } from 'zod';
import { ISSUE_WORDING } from './errors.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Every fault of the environment in one message: names and reasons, never a value. */
export class ConfigError extends Error {
  constructor(faults: readonly string[]) {
    super(`bad configuration: ${faults.join('; ')}`);
    this.name = 'ConfigError';
  }
}

/** `NAME_FILE` names a file that holds the value of `NAME` (secrets). An empty variable counts as absent. */
const readVariable = (env: Environment, name: string): { readonly value: string | undefined; readonly fault: string | null } => {
  const path = env[`${name}_FILE`];
  const plain = env[name] || undefined;
  if (!path) return { value: plain, fault: null };
  if (plain !== undefined) return { value: undefined, fault: `${name}: is given twice, also as ${name}_FILE` };
  try {
    return { value: readFileSync(path, 'utf8').replace(/\r?\n$/, ''), fault: null };
  } catch {
    return { value: undefined, fault: `${name}: the file that ${name}_FILE names cannot be read` };
  }
};

/** The typed values of the variables that `schema` names. */
export const readConfig = <S extends z.ZodObject>(schema: S, env: Environment): z.output<S> => {
  const names = Object.keys(schema.shape);
  const read = names.map((name) => [name, readVariable(env, name)] as const);
  const unreadable = read.flatMap(([, { fault }]) => fault ?? []);
  const parsed = schema.safeParse(Object.fromEntries(read.map(([name, { value }]) => [name, value])), ISSUE_WORDING);
  const unreadableNames = new Set(read.filter(([, { fault }]) => fault !== null).map(([name]) => name));
  const invalid = (parsed.error?.issues ?? [])
    .filter(({ path }) => !unreadableNames.has(String(path[0])))
    .map(({ path, message }) => `${path.length > 0 ? String(path[0]) : 'environment'}: ${message}`);
  const faults = [...unreadable, ...invalid];
  if (!parsed.success || faults.length > 0) throw new ConfigError(faults);
  return parsed.data;
};
