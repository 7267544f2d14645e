import { hkdfSync, randomBytes, randomUUID } from 'node:crypto';

/** The one source of randomness. */
export interface Ids {
  /** Version 4, lower case. */
  uuid(): string;
  /** Cryptographically random bytes, for secrets. */
  bytes(length: number): Buffer;
}

export const systemIds = (): Ids => ({ uuid: () => randomUUID(), bytes: (length) => randomBytes(length) });

export const SEED_BYTES = 32;
const UUID_BYTES = 16;

/** RFC 9562, 5.4: sixteen bytes with the marks of version and variant. */
const uuidOf = (bytes: Buffer): string => {
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x40, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
};

/** The same seed gives the same values in the same order; they are as secret as the seed. */
export const seededIds = (seed: Buffer): Ids => {
  let draws = 0;
  const bytes = (length: number): Buffer => {
    draws += 1;
    return Buffer.from(hkdfSync('sha256', seed, '', `draw ${draws}`, length));
  };
  return { bytes, uuid: () => uuidOf(bytes(UUID_BYTES)) };
};
