import { createHash } from 'node:crypto';
import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { OPERATOR } from '@bubbles/contracts/services.ts';
import { localEnvironment } from '@bubbles/host/variables.ts';
import { systemIds } from '@bubbles/kernel/ids.ts';
import { StartupError } from '@bubbles/kernel/run-process.ts';
import { type Part, partsOf } from '@bubbles/services/deployment.ts';
import { ALL_DATABASES, brokerDefinitions, storeUsers, VHOST } from '@bubbles/services/engine-users.ts';
import { PRODUCT, type Product } from '@bubbles/services/product.ts';
import type { Keys } from './keys.ts';

/** URLs of the engines without user and password. */
interface Addresses {
  readonly broker: string;
  readonly store: string;
  readonly mail: string;
}

const PASSWORD_BYTES = 24;
const SALT_BYTES = 4;
const KEY_FILE_BYTES = 96;
const KEY_ID = 'first';

/** Passwords of the engines' users; a user has the name of its part. */
const credentials = (keys: Keys) => {
  const passwordOf = (engine: string, user: string) => keys.secret(`${engine}-${user}`, PASSWORD_BYTES).toString('base64url');
  return {
    passwordOf,
    /** RabbitMQ's format: the salt, then SHA-256 of salt and password. */
    brokerHash(user: string) {
      const salt = keys.secret(`broker-salt-${user}`, SALT_BYTES);
      return Buffer.concat([salt, createHash('sha256').update(salt).update(passwordOf('broker', user)).digest()]).toString('base64');
    },
    urlWith: (address: string, engine: string, user: string) => address.replace('://', `://${user}:${passwordOf(engine, user)}@`),
  };
};

interface SecretsOptions {
  readonly keys: Keys;
  readonly addresses: Addresses;
  readonly product?: Product;
}

/**
 * All secrets of a deployment by file path: `<part>/<VARIABLE>` for the parts of the product and for external publishers, the users of the broker with
 * hashes of their passwords, and the users of the store with its own secrets.
 */
export const secretFiles = ({ keys, addresses, product = PRODUCT }: SecretsOptions): ReadonlyMap<string, string> => {
  const { passwordOf, brokerHash, urlWith } = credentials(keys);
  const parts = partsOf(product);
  const definitions = brokerDefinitions(product);
  const brokerUrl = (user: string) => `${urlWith(addresses.broker, 'broker', user)}/${VHOST}`;
  const storeUrl = (user: string, database: string) =>
    `${urlWith(addresses.store, 'store', user)}${addresses.store.includes('?') ? '&' : '?'}authSource=${database}`;
  const privateKey = (caller: string) => readFileSync(keys.privateKeyFile(caller), 'utf8');

  const made: Readonly<Record<string, (part: Part) => string | null>> = {
    AMQP_URL: ({ name }) => brokerUrl(name),
    MONGODB_URL: ({ name, database }) => storeUrl(name, database ?? ALL_DATABASES),
    SERVICE_KEY: ({ name }) => privateKey(name),
    OPERATOR_KEY: () => privateKey(OPERATOR),
    SMTP_URL: () => addresses.mail,
  };
  const filesOf = (part: Part) => {
    const own: Readonly<Record<string, string>> = ownSecrets(part.name, { keys, product });
    return part.variables.flatMap(({ name, isSecret, isRequired }): readonly (readonly [string, string])[] => {
      if (!isSecret && name !== 'CALLER_KEYS') return [];
      const value = own[name] ?? made[name]?.(part) ?? null;
      if (value !== null) return [[`${part.name}/${name}`, value]];
      if (isRequired) throw new StartupError(`${part.name} needs ${name}, which nothing here makes`);
      return [];
    });
  };
  const outside = definitions.users.filter(({ name }) => !parts.some((part) => part.name === name));
  return new Map([
    ...parts.flatMap(filesOf),
    ...outside.map(({ name }) => [`${name}/AMQP_URL`, brokerUrl(name)] as const),
    [
      'rabbitmq/definitions.json',
      JSON.stringify({
        ...definitions,
        users: definitions.users.map((user) => ({
          ...user,
          hashing_algorithm: 'rabbit_password_hashing_sha256',
          password_hash: brokerHash(user.name),
        })),
      }),
    ],
    ['mongodb/root-password', passwordOf('store', 'root')],
    ['mongodb/key-file', keys.secret('store-members', KEY_FILE_BYTES).toString('base64')],
    ['mongodb/users.json', JSON.stringify(storeUsers(parts).map((user) => ({ ...user, password: passwordOf('store', user.user) })))],
  ]);
};

/** The secret variables of a service, and the public keys of its callers. */
const ownSecrets = (name: string, { keys, product }: Pick<SecretsOptions, 'keys'> & { product: Product }) => {
  const definition = product.definitions.find((one) => one.name === name);
  if (definition === undefined) return {};
  const callers = product.services[name]?.callers ?? [];
  const machine = {
    publicBaseUrl: '',
    keyId: KEY_ID,
    secret: (secret: string, bytes: number) => keys.secret(`${name}-${secret}`, bytes),
    folder: () => '',
    callerKeys: () => keys.publicKeys(callers),
    serviceKey: () => ({}),
    urls: () => '',
  };
  return localEnvironment(definition, machine, {});
};

interface FolderOptions {
  readonly folder: string;
  /** Group id that may read the secrets of parts; null for the group of this process. */
  readonly group: number | null;
}

const ENGINES = ['rabbitmq', 'mongodb'];

const isFor = (file: string, { mode, gid }: { readonly mode: number; readonly gid: number | null }): boolean => {
  const found = statSync(file);
  return (found.mode & 0o777) === mode && (gid === null || found.gid === gid);
};

/** Writes files that are missing or differ in what they hold or in who may read it, each atomically. Returns how many were written. */
export const writeSecrets = (files: ReadonlyMap<string, string>, { folder, group }: FolderOptions): number => {
  let written = 0;
  for (const [path, content] of files) {
    const file = join(folder, path);
    const isOfEngine = ENGINES.includes(dirname(path));
    // Only the engine mounts this folder, and it runs as a user of its own image.
    const mode = isOfEngine ? 0o444 : 0o440;
    const gid = isOfEngine ? null : group;
    if (existsSync(file) && readFileSync(file, 'utf8') === content && isFor(file, { mode, gid })) continue;
    mkdirSync(dirname(file), { recursive: true, mode: 0o755 });
    const whole = `${file}.${systemIds().uuid()}`;
    writeFileSync(whole, content, { mode, flag: 'wx' });
    // Whatever the umask takes away.
    chmodSync(whole, mode);
    if (gid !== null) chownSync(whole, process.getuid?.() ?? 0, gid);
    renameSync(whole, file);
    written += 1;
  }
  return written;
};
