import { randomBytes, randomUUID } from 'node:crypto';

/** The one source of randomness. */
export interface Ids {
  /** Version 4, lower case. */
  uuid(): string;
  /** Cryptographically random bytes, for secrets. */
  bytes(length: number): Buffer;
}

export const systemIds = (): Ids => ({ uuid: () => randomUUID(), bytes: (length) => randomBytes(length) });
