import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { shortSummary } from './summary.ts';

const FAMILY = '👩‍👩‍👧‍👧';
const codePoints = (text: string) => [...text].length;

describe('the summary of a row', () => {
  it.each(['', 'x'.repeat(1000), '😀'.repeat(1000), '  ', `${'x'.repeat(999)}\n`])(
    '[LIST-03] up to 1000 characters it is as it was',
    (text) => {
      expect(shortSummary(text)).toBe(text);
    },
  );

  it('[LIST-03] a longer one is cut at 999 and ends with an ellipsis', () => {
    expect(shortSummary('x'.repeat(1001))).toBe(`${'x'.repeat(999)}…`);
    expect(shortSummary('😀'.repeat(1001))).toBe(`${'😀'.repeat(999)}…`);
  });

  it('[LIST-03] nothing is trimmed', () => {
    expect(shortSummary(`${'x'.repeat(998)}  more`)).toBe(`${'x'.repeat(998)} …`);
  });

  it('[LIST-03] a grapheme is not cut', () => {
    expect(shortSummary(FAMILY.repeat(200))).toBe(`${FAMILY.repeat(142)}…`);
    expect(shortSummary(`${'x'.repeat(998)}e\u0301e`)).toBe(`${'x'.repeat(998)}…`);
    expect(shortSummary(`${'x'.repeat(998)}\r\n!`)).toBe(`${'x'.repeat(998)}…`);
  });

  it('[LIST-03] but one that alone is longer', () => {
    expect(shortSummary(`e${'\u0301'.repeat(2000)}`)).toBe(`e${'\u0301'.repeat(998)}…`);
    expect(shortSummary(`xe${'\u0301'.repeat(2000)}`)).toBe('x…');
  });

  it('[LIST-03] has at most 1000 characters, no half of a pair, and begins as the summary does', () => {
    const pieces = fc.constantFrom('a', '😀', FAMILY, 'é', 'e\u0301', '\r\n', '🇩🇪', ' ', '한', '\u0301');
    fc.assert(
      fc.property(fc.array(pieces, { minLength: 150, maxLength: 1400 }), (parts) => {
        const text = parts.join('');
        const short = shortSummary(text);
        if (codePoints(text) <= 1000) return expect(short).toBe(text);
        expect(codePoints(short)).toBeLessThanOrEqual(1000);
        expect([short.isWellFormed(), short.endsWith('…'), text.startsWith(short.slice(0, -1))]).toEqual([true, true, true]);
      }),
      { numRuns: 200 },
    );
  });
});
