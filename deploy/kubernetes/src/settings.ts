import { SERVICES, type ServiceTable } from '@bubbles/contracts/services.ts';
import type { Part } from '@bubbles/services/deployment.ts';

/** Where the Secret of a part is mounted: a file for each key. */
export const SECRETS_FOLDER = '/run/secrets/bubbles';

/** Public keys, kept beside the private ones since both are made and changed together. */
const CALLER_KEYS = 'CALLER_KEYS';

/** What counts when nobody sets it; null for what a part does not read. */
export const usualNumber = ({ variables }: Part, variable: string): number | null => {
  const usual = variables.find(({ name }) => name === variable)?.usual ?? null;
  return usual === null ? null : Number(usual);
};
const portOf = (part: Part, variable: string): number => {
  const port = usualNumber(part, variable);
  if (port === null) throw new TypeError(`${part.name} has no usual ${variable}`);
  return port;
};
export const portsOf = (part: Part) => ({ http: portOf(part, 'PORT'), ops: portOf(part, 'OPS_PORT') });

/** Whether it goes on until it is told to end. */
export const isServer = ({ kind }: Part): boolean => kind === 'service' || kind === 'gateway';

export const usesStore = ({ variables }: Part): boolean => variables.some(({ name }) => name === 'MONGODB_URL');

/**
 * What a part is in a cluster: a server, a job that is over before the servers of its release start, so that it has nobody to call, or a command that an
 * operator gives. Null for a part that prepares a machine, such as one that makes keys.
 */
export const roleOf = (part: Part): 'service' | 'gateway' | 'job' | 'command' | null => {
  if (part.kind !== 'job') return part.kind;
  if (part.calls.length > 0) return 'command';
  return part.usesBroker || usesStore(part) ? 'job' : null;
};

export const isSecretKey = ({ name, isSecret }: Part['variables'][number]): boolean => isSecret || name === CALLER_KEYS;

/** What its Secret must hold. A key beyond these is one of `optionalSecretKeys`. */
export const secretKeys = ({ variables }: Part): readonly string[] =>
  variables.filter((variable) => variable.isRequired && isSecretKey(variable)).map(({ name }) => name);
export const optionalSecretKeys = ({ variables }: Part): readonly string[] =>
  variables.filter((variable) => !variable.isRequired && isSecretKey(variable)).map(({ name }) => name);

/** Of a headless service: the addresses of the ready replicas. */
export const headless = (name: string): string => `${name}-headless`;

/**
 * What the layout of the base decides of its variables: where the others are, and where its secrets lie. The gateway chooses among replicas itself, so
 * it asks for their addresses.
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
    // Who sends single commands is told one address.
    const name = isServer(part) ? variable : variable.replace(/S$/, '');
    return read.has(name) ? [[name, addressOf(callee)]] : [];
  });
  const upstreams = part.calls.map((callee) => `${callee}=dns+${addressOf(callee, headless(callee))}`).join(';');
  return {
    ...(part.kind === 'gateway' ? { UPSTREAMS: upstreams } : Object.fromEntries(urls)),
    ...Object.fromEntries(secretKeys(part).map((name) => [`${name}_FILE`, `${SECRETS_FOLDER}/${name}`])),
  };
};
