import { createCipheriv, createDecipheriv } from 'node:crypto';
import { ConfigError } from './config.ts';

const ALGORITHM = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;
export const SEAL_KEY_BYTES = 32;

/** A master key and the name that sealed values carry of it. */
export interface SealKey {
  readonly id: string;
  readonly key: Buffer;
}

/** Secrets at rest, AES-256-GCM. What is sealed under a name is unsealed under that name only. */
export interface Seal {
  seal(secret: Buffer, name: string): string;
  /** Throws `ConfigError` when the master key is missing, or the key, the name or a byte differs: a process that needs it to start says so in one line. */
  unseal(sealed: string, name: string): Buffer;
}

interface KeyedSeal extends Seal {
  /** Ids of the keys; the first one seals. */
  readonly keyIds: readonly string[];
  /** Id of the key that sealed a value. */
  keyIdOf(sealed: string): string;
}

const keyIdOf = (sealed: string): string => sealed.split('.', 1).join();

/** Seals with the first key and unseals with any: a new key goes in front, the old one is removed when nothing is sealed with it any more. */
export function createSeal(keys: readonly SealKey[], randomBytes: (length: number) => Buffer): KeyedSeal {
  const [current] = keys;
  if (current === undefined) throw new Error('there is no key to seal with');
  return {
    keyIds: keys.map(({ id }) => id),
    keyIdOf,
    seal: (secret, name) => {
      const iv = randomBytes(IV_BYTES);
      const cipher = createCipheriv(ALGORITHM, current.key, iv, { authTagLength: TAG_BYTES }).setAAD(Buffer.from(name));
      const text = Buffer.concat([cipher.update(secret), cipher.final()]);
      return `${current.id}.${Buffer.concat([iv, cipher.getAuthTag(), text]).toString('base64url')}`;
    },
    unseal: (sealed, name) => {
      const id = keyIdOf(sealed);
      const [, encoded = ''] = sealed.split('.');
      const key = keys.find((candidate) => candidate.id === id);
      if (key === undefined) throw new ConfigError([`SEAL_KEYS: what is stored was sealed with the key ${id}, which is not among them`]);
      const bytes = Buffer.from(encoded, 'base64url');
      const decipher = createDecipheriv(ALGORITHM, key.key, bytes.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES })
        .setAAD(Buffer.from(name))
        .setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
      const text = decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES));
      try {
        return Buffer.concat([text, decipher.final()]);
      } catch {
        throw new ConfigError([
          `SEAL_KEYS: the key ${id} does not open what is stored under its name: it is another one, or the data is damaged`,
        ]);
      }
    },
  };
}
