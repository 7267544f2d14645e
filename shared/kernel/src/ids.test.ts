import { describe, expect, it } from '@jest/globals';
import { seededIds } from './ids.ts';

const drawn = (seed: number) => {
  const ids = seededIds(Buffer.alloc(32, seed));
  return [ids.uuid(), ids.bytes(5).toString('hex'), ids.uuid(), ids.bytes(40).toString('hex')];
};

describe('seededIds', () => {
  it('the same seed gives the same values in the same order, each another', () => {
    expect(drawn(1)).toEqual(drawn(1));
    expect(new Set([...drawn(1), ...drawn(2)]).size).toBe(8);
  });

  it('its uuids are of version 4', () => {
    expect(drawn(3)[0]).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });
});
