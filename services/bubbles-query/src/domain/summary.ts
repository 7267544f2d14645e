const SUMMARY_MAX_CHARACTERS = 1000;

const ELLIPSIS = '…';

const codePoints = (text: string): number => {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
};

/** A code point is at most two units. */
const MAX_UNITS = SUMMARY_MAX_CHARACTERS * 2;

/** The longest run of whole graphemes that leaves room for the ellipsis; of a grapheme that alone is longer, as many code points as fit. */
function cut(text: string): string {
  // Made here: the first one loads 3 MB of Unicode, and every other costs little beside the cutting.
  const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' });
  let kept = '';
  let count = 0;
  for (const { segment } of graphemes.segment(text.slice(0, MAX_UNITS + 2))) {
    const size = codePoints(segment);
    if (count + size > SUMMARY_MAX_CHARACTERS - 1) break;
    kept += segment;
    count += size;
  }
  return kept === '' ? [...text.slice(0, MAX_UNITS)].slice(0, SUMMARY_MAX_CHARACTERS - 1).join('') : kept;
}

/** Summary for list rows: at most 1000 code points, including the ellipsis of a longer one. */
export const shortSummary = (text: string): string => {
  if (text.length <= SUMMARY_MAX_CHARACTERS || (text.length <= MAX_UNITS && codePoints(text) <= SUMMARY_MAX_CHARACTERS)) return text;
  return cut(text) + ELLIPSIS;
};
