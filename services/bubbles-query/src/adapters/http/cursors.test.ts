import { cursorsWith } from '@bubbles/kernel/cursors.ts';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { UNDATED } from '../../domain/bubble.ts';
import { cursors, hitPosition } from './cursors.ts';

const positionAt = (createdMs: fc.Arbitrary<number>) => fc.record({ rank: fc.nat({ max: 2 ** 18 - 1 }), createdMs, id: fc.uuid() });
const near = fc.oneof(fc.integer({ min: 1, max: 10 ** 13 - 1 }), fc.constant(UNDATED));
const far = fc.oneof(fc.integer({ min: -62_167_219_200_000, max: 0 }), fc.integer({ min: 10 ** 13, max: 253_402_300_799_999 }));

describe('a position', () => {
  it('[LIST-07] comes back from its 26 bytes, 28 of a time before 1970 or from 2286 on', () => {
    const bytesOf = (times: fc.Arbitrary<number>, length: number) =>
      fc.property(positionAt(times), (place) => {
        const { bytes } = hitPosition.write(place);
        expect(bytes).toHaveLength(length);
        expect(hitPosition.read(bytes)).toEqual(place);
      });
    fc.assert(bytesOf(near, 26));
    fc.assert(bytesOf(far, 28));
    for (const length of [0, 3, 25, 27, 29]) expect(hitPosition.read(Buffer.alloc(length))).toBeNull();
  });
});

describe('cursors that earlier releases issued', () => {
  const { rows, hits, comments } = cursors(cursorsWith({ current: Buffer.alloc(32, 1), previous: null }));
  const id = '018f3c1a-2b4d-7e6f-8a9b-0c1d2e3f4a5b';
  const createdMs = 1_714_000_000_123;
  const filters = JSON.stringify({
    teamId: 'team-1',
    spaceId: null,
    type: 'meeting_recording',
    createdAfterMs: 1_700_000_000_000,
    createdBeforeMs: null,
  });

  it.each([
    ['a time', 'AQEBvQQVC0SGAY8SXHR7AY88GitNfm-KmwwdLj9KW572V2hIJEga', createdMs],
    ['no time', 'AQEBvQQVC0SGAAAAAAAAAY88GitNfm-KmwwdLj9KW8k4V7ab--Zy', UNDATED],
    ['a time before 1970', 'AQIBvQQVC0SG__________sBjzwaK01-b4qbDB0uP0pbKZ1MBLb4wJ0', -5],
  ])('[LIST-08] of the list are read and written as ever: %s', (_title, text, ms) => {
    expect(rows.decode(text, ['ada', filters])).toEqual({ createdMs: ms, id });
    expect(rows.encode({ createdMs: ms, id }, ['ada', filters])).toBe(text);
  });

  it.each([
    ['a time', 'AQEC2DerJGW5AAER6wGPElx0ewGPPBorTX5vipsMHS4_SluIac2Y_J3-tw', createdMs],
    ['a time after 2286', 'AQEC2DerJGW5AAER6wAACRhOcqAFAY88GitNfm-KmwwdLj9KWww2sE0mlBIO', 10 ** 13 + 5],
  ])('[LIST-08] of a search are read and written as ever: %s', (_title, text, ms) => {
    const scope = ['ada', '["phoenix"]', filters];
    expect(hits.decode(text, scope)).toEqual({ rank: 70_123, createdMs: ms, id });
    expect(hits.encode({ rank: 70_123, createdMs: ms, id }, scope)).toBe(text);
  });

  it('[LIST-08] of comments are read and written as ever', () => {
    const text = 'AQED0AHfp2PYAAABjxJcdHtjb21tZW50LTHNVen4lxdZwQ';
    const last = { createdAt: new Date(createdMs), id: 'comment-1' };
    expect(comments.decode(text, ['ada', id])).toEqual(last);
    expect(comments.encode(last, ['ada', id])).toBe(text);
  });
});
