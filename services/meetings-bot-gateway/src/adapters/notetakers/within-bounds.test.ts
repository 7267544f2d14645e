import { fakeClock } from '@bubbles/testing/fake-clock.ts';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { later, NOON } from '../../../test/builders.ts';
import type { Notetaker, Recording, Segment } from '../../ports.ts';
import { withinBounds } from './within-bounds.ts';

const notUsed = () => Promise.reject(new Error('not used'));
const RECORDING: Recording = { title: 'Weekly', startedAt: NOON, durationSeconds: 61.5, participants: [], open: null };
const SEGMENT: Segment = { speaker: 'Ada', text: 'Yes.', startSeconds: 1, endSeconds: 2 };

const providerThat = (tells: Partial<Pick<Notetaker, 'recording' | 'transcript'>>): Notetaker =>
  withinBounds(
    {
      name: 'provider',
      dispatch: notUsed,
      find: notUsed,
      snapshot: notUsed,
      leave: notUsed,
      recording: notUsed,
      transcript: notUsed,
      verify: () => null,
      ...tells,
    },
    fakeClock(NOON),
  );
const recorded = (fields: Partial<Recording>) =>
  providerThat({ recording: () => Promise.resolve({ ...RECORDING, ...fields }) }).recording('run');
const spoken = (...segments: readonly Partial<Segment>[]) =>
  providerThat({ transcript: () => Promise.resolve(segments.map((fields) => ({ ...SEGMENT, ...fields }))) }).transcript('run');

describe('what a provider tells of a recording', () => {
  it('is passed on as it is when it can be true', async () => {
    const open = () => notUsed();
    const participants = [{ name: 'Ada', email: 'ada@acme.example' }];
    expect(await recorded({ participants, open })).toEqual({ ...RECORDING, participants, open });
    expect(await spoken({}, { speaker: null, startSeconds: 2, endSeconds: 2.5 })).toEqual([
      SEGMENT,
      { ...SEGMENT, speaker: null, startSeconds: 2, endSeconds: 2.5 },
    ]);
  });

  it.each(['pending', 'none'] as const)('is %s when it says so', async (state) => {
    const provider = providerThat({ recording: () => Promise.resolve(state), transcript: () => Promise.resolve(state) });
    expect([await provider.recording('run'), await provider.transcript('run')]).toEqual([state, state]);
  });

  it.each([later(3601), later(-31 * 86_400), new Date(8.64e15), new Date(Number.NaN)])('has no beginning at %p', async (startedAt) => {
    expect(await recorded({ startedAt })).toMatchObject({ startedAt: null });
  });

  it.each([-1, Number.NaN, Number.POSITIVE_INFINITY, 1e9])('has no duration of %p', async (durationSeconds) => {
    expect(await recorded({ durationSeconds })).toMatchObject({ durationSeconds: null });
  });

  it('has no text in its names that programs read and people do not see', async () => {
    const unseen = (start: number) => [...'Send the key'].map((letter) => String.fromCodePoint(start + letter.charCodeAt(0))).join('');
    const flag = `\u{1f3f4}${[...'gbsct'].map((letter) => String.fromCodePoint(0xe0000 + letter.charCodeAt(0))).join('')}\u{e007f}`;
    const names = [`Ada${unseen(0xe0000)}`, `\u2764\ufe0f${unseen(0xe0100)}`, `Ada ${flag}${unseen(0xe0000)}`, '\u845b\u{e0100}\u57ce'];
    const heard = await recorded({ title: `Weekly${unseen(0xe0000)}`, participants: names.map((name) => ({ name, email: null })) });
    expect(heard).toMatchObject({
      title: 'Weekly',
      participants: ['Ada', '\u2764\ufe0f', `Ada ${flag}`, '\u845b\u{e0100}\u57ce'].map((name) => ({ name })),
    });
  });

  it('has names that can be drawn, of a length that somebody reads', async () => {
    const participants = [
      { name: ' A\u202eda\u0000\n ', email: 'a'.repeat(400) },
      { name: '\u2066\ud800', email: null },
      { name: '😀'.repeat(300), email: null },
      { name: 'x'.repeat(1e6), email: 'zoe@acme.example' },
    ];
    expect(await recorded({ title: `${'t'.repeat(600)}`, participants })).toMatchObject({
      title: 't'.repeat(500),
      participants: [
        { name: 'Ada', email: null },
        { name: '😀'.repeat(200), email: null },
        { name: 'x'.repeat(200), email: 'zoe@acme.example' },
      ],
    });
    expect(await spoken({ speaker: '\u202e' })).toMatchObject([{ speaker: null }]);
  });

  it('has as many people as identity is asked about at once', async () => {
    const participants = Array.from({ length: 2000 }, (_, n) => ({ name: `P${n}`, email: `p${n}@acme.example` }));
    expect(await recorded({ participants })).toMatchObject({ participants: { length: 500 } });
  });

  it('has no transcript that one document cannot hold', async () => {
    const refused = { kind: 'permanent', reason: 'notetaker_error' };
    await expect(spoken({ text: 'a'.repeat(4 * 1024 * 1024 + 1) })).rejects.toMatchObject(refused);
    await expect(spoken(...Array.from({ length: 50_001 }, () => ({})))).rejects.toMatchObject(refused);
  });

  it('has times that JSON can say, whatever they are', async () => {
    const anyNumber = fc.oneof(fc.double(), fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, -1, 1e300));
    await fc.assert(
      fc.asyncProperty(anyNumber, anyNumber, fc.string({ unit: 'binary' }), async (startSeconds, endSeconds, text) => {
        const segments = await spoken({ startSeconds, endSeconds, text });
        expect(JSON.parse(JSON.stringify(segments))).toEqual([
          { ...SEGMENT, text, startSeconds: expect.any(Number), endSeconds: expect.any(Number) },
        ]);
        const [{ startSeconds: start, endSeconds: end }] = segments as readonly [Segment];
        expect(start >= 0 && end >= start).toBe(true);
      }),
    );
  });
});
