import { createCipheriv, createDecipheriv } from 'node:crypto';

const ALGORITHM = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** AES-256-GCM; what is sealed for one name opens under that name only. */
export interface Seal {
  close(secret: Buffer, name: string): string;
  /** Throws when the master key, the name or a byte differs. */
  open(sealed: string, name: string): Buffer;
}

export const masterKeySeal = (masterKey: Buffer, randomBytes: (length: number) => Buffer): Seal => ({
  close: (secret, name) => {
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv(ALGORITHM, masterKey, iv, { authTagLength: TAG_BYTES }).setAAD(Buffer.from(name));
    const text = Buffer.concat([cipher.update(secret), cipher.final()]);
    return Buffer.concat([iv, cipher.getAuthTag(), text]).toString('base64url');
  },
  open: (sealed, name) => {
    const bytes = Buffer.from(sealed, 'base64url');
    const decipher = createDecipheriv(ALGORITHM, masterKey, bytes.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES })
      .setAAD(Buffer.from(name))
      .setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
    return Buffer.concat([decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES)), decipher.final()]);
  },
});
