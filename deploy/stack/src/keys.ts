import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemIds } from '@bubbles/kernel/ids.ts';

export const CALLERS = ['gateway', 'bubbles-query', 'webhooks-dispatcher', 'operator'] as const;
export type Caller = (typeof CALLERS)[number];
type Secret = 'seal' | 'cursor' | 'person';

/** The secrets of one stack, each in a file that only its owner reads; what was sealed with them needs them again. */
export interface StackKeys {
  /** Where the private key of a caller lies. */
  privateKeyFile(caller: Caller): string;
  /** `CALLER_KEYS` of a service that these may call. */
  publicKeys(...callers: readonly Caller[]): string;
  /** 32 bytes, base64. */
  secret(name: Secret): string;
}

const SECRET_BYTES = 32;

/** Makes what is not there yet. */
export const openKeys = (folder: string): StackKeys => {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const fileOf = (name: string, make: () => string): string => {
    const path = join(folder, `${name}.key`);
    if (!existsSync(path)) writeFileSync(path, make(), { mode: 0o600, flag: 'wx' });
    return path;
  };
  const privateKeyFile = (caller: Caller) =>
    fileOf(caller, () => generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' }).toString());
  const publicKey = (caller: Caller) =>
    createPublicKey(readFileSync(privateKeyFile(caller), 'utf8'))
      .export({ format: 'der', type: 'spki' })
      .toString('base64');
  return {
    privateKeyFile,
    publicKeys: (...callers) => callers.map((caller) => `${caller}=${publicKey(caller)}`).join(','),
    secret: (name) =>
      readFileSync(
        fileOf(name, () => systemIds().bytes(SECRET_BYTES).toString('base64')),
        'utf8',
      ),
  };
};
