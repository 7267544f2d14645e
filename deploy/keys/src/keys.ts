import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorCode } from '@bubbles/kernel/errors.ts';
import { systemIds } from '@bubbles/kernel/ids.ts';
import { StartupError } from '@bubbles/kernel/run-process.ts';

/** The secrets of one deployment, each in a file that only its owner can read. Values sealed with them cannot be read without them. */
export interface Keys {
  /** Where the private key of a caller lies. */
  privateKeyFile(caller: string): string;
  /** `CALLER_KEYS` of a service that these may call. */
  publicKeys(callers: readonly string[]): string;
  secret(name: string, bytes: number): Buffer;
}

/** Makes what is not there yet. */
export const openKeys = (folder: string): Keys => {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const fileOf = (name: string, make: () => string): string => {
    const path = join(folder, `${name}.key`);
    if (!existsSync(path)) createWhole(path, make());
    return path;
  };
  const privateKeyFile = (caller: string) =>
    fileOf(caller, () => generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' }).toString());
  const publicKey = (caller: string) => {
    const path = privateKeyFile(caller);
    try {
      return createPublicKey(readFileSync(path, 'utf8')).export({ format: 'der', type: 'spki' }).toString('base64');
    } catch (error) {
      throw damaged(path, 'holds no private key', error);
    }
  };
  return {
    privateKeyFile,
    publicKeys: (callers) => callers.map((caller) => `${caller}=${publicKey(caller)}`).join(','),
    secret(name, bytes) {
      const path = fileOf(name, () => systemIds().bytes(bytes).toString('base64'));
      const read = readSecret(path);
      if (read.length !== bytes) throw damaged(path, `does not hold ${bytes} bytes in base64`);
      return read;
    },
  };
};

const damaged = (path: string, fault: string, cause?: unknown): StartupError =>
  new StartupError(`${path} ${fault}. Restore it. Without it, nothing that was sealed or signed with it can be read or verified.`, cause);

const readSecret = (path: string): Buffer => {
  try {
    return Buffer.from(readFileSync(path, 'utf8'), 'base64');
  } catch (error) {
    if (errorCode(error) === 'EISDIR') return Buffer.alloc(0);
    throw error;
  }
};

/** Atomic: a killed process leaves no partial key, and of two processes at once the first one's key stays. */
const createWhole = (path: string, content: string): void => {
  const written = `${path}.${systemIds().uuid()}`;
  writeFileSync(written, content, { mode: 0o600, flag: 'wx' });
  try {
    linkSync(written, path);
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
  } finally {
    rmSync(written);
  }
};
