import { base64Key, baseUrl } from '@bubbles/shared/config-values.ts';
import { z } from 'zod';

const SEAL_KEY_BYTES = 32;

/** What identity itself is told; its process adds where it listens and what it connects to. */
export const IdentityEnvironment = z.object({
  /** Origin under which clients reach the product. */
  PUBLIC_BASE_URL: baseUrl(),
  /** Opens the signing keys that lie in the database. */
  ASSERTION_SEAL_KEY: base64Key(SEAL_KEY_BYTES),
});

export interface Config {
  readonly publicBaseUrl: string;
  readonly sealKey: Buffer;
  /** Takes over at once what a process that is gone had claimed: only where no other replica can be at work. */
  readonly releaseAtStart: boolean;
}
