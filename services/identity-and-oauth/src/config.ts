import { z } from 'zod';

const SEAL_KEY_BYTES = 32;

/** What identity itself has to know; the environment of its process is read in `main.ts`. */
export interface Config {
  /** Origin under which clients reach the product, without a trailing slash. */
  readonly publicBaseUrl: string;
  /** 32 bytes that open the signing keys in the database. */
  readonly sealKey: Buffer;
}

export const SealKey = z
  .base64()
  .transform((text) => Buffer.from(text, 'base64'))
  .refine((key) => key.length === SEAL_KEY_BYTES, `must be ${SEAL_KEY_BYTES} bytes in base64`);
