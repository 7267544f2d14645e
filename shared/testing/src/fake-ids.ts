import { createHash } from 'node:crypto';
import type { Ids } from '@bubbles/kernel/ids.ts';

/** The same sequence for the same seed: valid version 4 uuids and bytes that look random. */
export function fakeIds(seed = 'ids'): Ids {
  let drawn = 0;
  const block = () => {
    drawn += 1;
    return createHash('sha256').update(`${seed}:${drawn}`).digest();
  };
  return {
    uuid() {
      const hex = block().toString('hex');
      const variant = '89ab'[Number.parseInt(hex.slice(16, 17), 16) % 4];
      return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
    },
    bytes(length) {
      const blocks: Buffer[] = [];
      for (let have = 0; have < length; have += 32) blocks.push(block());
      return Buffer.concat(blocks).subarray(0, length);
    },
  };
}
