import { SERVICES, type ServiceTable } from '@bubbles/contracts/services.ts';
import type { Part } from '@bubbles/services/deployment.ts';

/** Mount path of the Secret of a part, with one file per key. */
export const SECRETS_FOLDER = '/run/secrets/bubbles';

/** Public keys, stored in the Secret because they are rotated together with the private keys. */
const CALLER_KEYS = 'CALLER_KEYS';

/** Default of a numeric variable; null when the part does not read it. */
export const defaultNumber = ({ variables }: Part, variable: string): number | null => {
  const defaultText = variables.find(({ name }) => name === variable)?.defaultText ?? null;
  return defaultText === null ? null : Number(defaultText);
};
const portOf = (part: Part, variable: string): number => {
  const port = defaultNumber(part, variable);
  if (port === null) throw new TypeError(`${part.name} has no default for ${variable}`);
  return port;
};
export const portsOf = (part: Part) => ({ http: portOf(part, 'PORT'), ops: portOf(part, 'OPS_PORT') });

/** True for long-running parts: services and the gateway. */
export const isServer = ({ kind }: Part): boolean => kind === 'service' || kind === 'gateway';

export const usesStore = ({ variables }: Part): boolean => variables.some(({ name }) => name === 'MONGODB_URL');

/**
 * The role of a part in a cluster: a server, a job that ends before the servers of its release start and therefore calls no service, or a command that an
 * operator runs. Null for parts that a cluster does not run, such as the job that makes keys.
 */
export const roleOf = (part: Part): 'service' | 'gateway' | 'job' | 'command' | null => {
  if (part.kind !== 'job') return part.kind;
  if (part.calls.length > 0) return 'command';
  return part.usesBroker || usesStore(part) ? 'job' : null;
};

const isSecretKey = ({ name, isSecret }: Part['variables'][number]): boolean => isSecret || name === CALLER_KEYS;

/** Required keys of its Secret; `optionalSecretKeys` lists the others. */
export const secretKeys = ({ variables }: Part): readonly string[] =>
  variables.filter((variable) => variable.isRequired && isSecretKey(variable)).map(({ name }) => name);
export const optionalSecretKeys = ({ variables }: Part): readonly string[] =>
  variables.filter((variable) => !variable.isRequired && isSecretKey(variable)).map(({ name }) => name);

/** Name of the headless Service, which resolves to the addresses of the ready replicas. */
export const headless = (name: string): string => `${name}-headless`;

/**
 * Variables that follow from the manifests: the addresses of the services that a part calls, and the paths of its secrets. The gateway balances over
 * replicas itself, so its upstreams name the headless Services.
 */
export const layoutSettings = (part: Part, parts: readonly Part[]): Readonly<Record<string, string>> => {
  const table: ServiceTable = SERVICES;
  const addressOf = (callee: string, host = callee): string => {
    const called = parts.find(({ name }) => name === callee);
    if (called === undefined) throw new TypeError(`${part.name} calls ${callee}, which is no part`);
    return `http://${host}:${portsOf(called).http}`;
  };
  const read = new Set(part.variables.map(({ name }) => name));
  const urls = part.calls.flatMap((callee): readonly (readonly [string, string])[] => {
    const variable = table[callee]?.urlsVariable ?? '';
    // A command reads the singular variable, with one address.
    const name = isServer(part) ? variable : variable.replace(/S$/, '');
    return read.has(name) ? [[name, addressOf(callee)]] : [];
  });
  const upstreams = part.calls.map((callee) => `${callee}=dns+${addressOf(callee, headless(callee))}`).join(';');
  return {
    ...(part.kind === 'gateway' ? { UPSTREAMS: upstreams } : Object.fromEntries(urls)),
    ...Object.fromEntries(secretKeys(part).map((name) => [`${name}_FILE`, `${SECRETS_FOLDER}/${name}`])),
  };
};
