import { createCipheriv, createDecipheriv } from 'node:crypto';

const ALGORITHM = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;
export const SEAL_KEY_BYTES = 32;

/** A master key and the name that sealed values carry of it. */
export interface SealKey {
  readonly id: string;
  readonly key: Buffer;
}

/** Secrets at rest, AES-256-GCM; what is sealed for one name opens under that name only. */
export interface Seal {
  close(secret: Buffer, name: string): string;
  /** Throws when there is no such master key, or the key, the name or a byte differs. */
  open(sealed: string, name: string): Buffer;
}

/** Seals with the first key and opens with any: a new key goes in front, the old one leaves when nothing is sealed with it any more. */
export function masterKeySeal(keys: readonly SealKey[], randomBytes: (length: number) => Buffer): Seal {
  const [current] = keys;
  if (current === undefined) throw new Error('there is no key to seal with');
  return {
    close: (secret, name) => {
      const iv = randomBytes(IV_BYTES);
      const cipher = createCipheriv(ALGORITHM, current.key, iv, { authTagLength: TAG_BYTES }).setAAD(Buffer.from(name));
      const text = Buffer.concat([cipher.update(secret), cipher.final()]);
      return `${current.id}.${Buffer.concat([iv, cipher.getAuthTag(), text]).toString('base64url')}`;
    },
    open: (sealed, name) => {
      const [id, text = ''] = sealed.split('.');
      const key = keys.find((candidate) => candidate.id === id);
      if (key === undefined) throw new Error('sealed with a key that is not here');
      const bytes = Buffer.from(text, 'base64url');
      const decipher = createDecipheriv(ALGORITHM, key.key, bytes.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES })
        .setAAD(Buffer.from(name))
        .setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
      return Buffer.concat([decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES)), decipher.final()]);
    },
  };
}
