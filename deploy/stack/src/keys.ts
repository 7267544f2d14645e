import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemIds } from '@bubbles/kernel/ids.ts';

/** The secrets of one stack, each in a file that only its owner reads; what was sealed with them needs them again. */
export interface StackKeys {
  /** Where the private key of a caller lies. */
  privateKeyFile(caller: string): string;
  /** `CALLER_KEYS` of a service that these may call. */
  publicKeys(callers: readonly string[]): string;
  secret(name: string, bytes: number): Buffer;
}

/** Makes what is not there yet. */
export const openKeys = (folder: string): StackKeys => {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const fileOf = (name: string, make: () => string): string => {
    const path = join(folder, `${name}.key`);
    if (!existsSync(path)) writeFileSync(path, make(), { mode: 0o600, flag: 'wx' });
    return path;
  };
  const privateKeyFile = (caller: string) =>
    fileOf(caller, () => generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' }).toString());
  const publicKey = (caller: string) =>
    createPublicKey(readFileSync(privateKeyFile(caller), 'utf8'))
      .export({ format: 'der', type: 'spki' })
      .toString('base64');
  return {
    privateKeyFile,
    publicKeys: (callers) => callers.map((caller) => `${caller}=${publicKey(caller)}`).join(','),
    secret(name, bytes) {
      const path = fileOf(name, () => systemIds().bytes(bytes).toString('base64'));
      return Buffer.from(readFileSync(path, 'utf8'), 'base64');
    },
  };
};
