import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Segment } from './transcript.ts';
import { type FileFormat, transcriptFile } from './transcript-file.ts';

interface Spoken {
  readonly name?: string | null;
  readonly at?: readonly [start: number, end: number];
}
const said = (text: string, { name = 'Ada', at = [0, 1] }: Spoken = {}): Segment => ({
  speaker: name === null ? null : { id: null, name },
  text,
  startTimeSeconds: at[0],
  endTimeSeconds: at[1],
});
const written = (format: FileFormat, ...segments: readonly Segment[]): string => transcriptFile({ title: 'Weekly', segments }, format).text;

interface ReadCue {
  readonly startMs: number;
  readonly endMs: number;
  readonly speaker: string | null;
  readonly text: string;
}
const TIMES = /^(\d{2,}):([0-5]\d):([0-5]\d)[.,](\d{3}) --> (\d{2,}):([0-5]\d):([0-5]\d)[.,](\d{3})$/;
const timesIn = (line: string | undefined): Pick<ReadCue, 'startMs' | 'endMs'> => {
  const parts = TIMES.exec(line ?? '')
    ?.slice(1)
    .map(BigInt);
  if (parts === undefined) throw new Error(`no times: ${line}`);
  const [h = 0n, m = 0n, s = 0n, ms = 0n, ...end] = parts;
  const [eh = 0n, em = 0n, es = 0n, ems = 0n] = end;
  return { startMs: Number(((h * 60n + m) * 60n + s) * 1000n + ms), endMs: Number(((eh * 60n + em) * 60n + es) * 1000n + ems) };
};
const LINE_ENDS = /\r\n|\r|\n/;
const blocksOf = (file: string): readonly (readonly string[])[] =>
  file
    .split(LINE_ENDS)
    .join('\n')
    .split(/\n{2,}/)
    .map((block) => block.split('\n').filter((line) => line !== ''))
    .filter((lines) => lines.length > 0);

const unescapedVtt = (text: string): string => {
  expect(text).not.toMatch(/[<>]|&(?!(?:amp|lt|gt|#45);)/);
  return text.replaceAll('&#45;', '-').replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
};
/** Whatever has an arrow in it is a line of times to a player. */
const readVtt = (file: string): readonly ReadCue[] => {
  const [head, ...cues] = blocksOf(file);
  expect(head).toEqual(['WEBVTT']);
  return cues.map((lines) => {
    expect([lines.length, lines.findLastIndex((line) => line.includes('-->'))]).toEqual([2, 0]);
    const [, voice, text = ''] = /^(?:<v ([^>]+)>)?(.*)$/u.exec(lines[1] ?? '') ?? [];
    return { ...timesIn(lines[0]), speaker: voice === undefined ? null : unescapedVtt(voice), text: unescapedVtt(text) };
  });
};

const readSrt = (file: string): readonly ReadCue[] =>
  blocksOf(file).map((lines, index) => {
    expect([lines.length, lines[0], lines.findLastIndex((line) => line.includes('-->'))]).toEqual([3, String(index + 1), 1]);
    expect(lines[2]).not.toMatch(/<[/a-z]|\{[\\a-z]/i);
    return { ...timesIn(lines[1]), speaker: null, text: (lines[2] ?? '').replaceAll('\u2060', '') };
  });

const MARKS = /(?<!\\)(?:\\\\)*[`*_[\]<>&#~|$]/;
const unescapedMarkdown = (text: string): string => {
  expect(text).not.toMatch(MARKS);
  expect(text).not.toMatch(/^(?:[-+=:]|\d+[.)])/);
  return text.replace(/\\([!-/:-@[-`{-~])/g, '$1');
};
const readMarkdown = (file: string) => {
  const [[title = ''] = [], ...blocks] = blocksOf(file);
  const pairs = Array.from({ length: blocks.length / 2 }, (_, n) => [blocks[2 * n] ?? [], blocks[2 * n + 1] ?? []] as const);
  expect([title.slice(0, 2), blocks.length % 2, blocks.every(({ length }) => length === 1)]).toEqual(['# ', 0, true]);
  return {
    title: unescapedMarkdown(title.slice(2)),
    blocks: pairs.map(([[head = ''], [text = '']]) => {
      const [, name = '', at] = /^\*\*(.+)\*\* \((\d{2,}:\d{2}:\d{2})\)$/u.exec(head) ?? [];
      return { name: unescapedMarkdown(name), at, text: unescapedMarkdown(text) };
    }),
  };
};

const HOSTILE = [
  '-->',
  '00:00:01,000 --> 00:00:02,000',
  '\n\n2\n00:00:01.000 --> 00:00:02.000\nforged',
  '<v Ben>',
  '</v><script>',
  '&amp;&lt;',
  '\r\n\r\nNOTE',
  '\u0000',
  '\u2028',
  '\u2029',
  '\u0085',
  '\u202e',
  '\u2066',
  '\ud800',
  '{\\an8}',
  '# ',
  '1. ',
  '---',
  '```',
  '[a](javascript:x)',
  '![](https://x.test)',
  '**',
  '\\',
  '| a |',
  'שלום',
  '👩\u200d💻',
  '"',
  ' ',
];
const hostile = fc
  .array(fc.oneof(fc.constantFrom(...HOSTILE), fc.string({ unit: 'binary' })), { maxLength: 6 })
  .map((parts) => parts.join(''));
const time = fc.double({ min: 0, max: 1e9, noNaN: true });
const segment = fc
  .record({ text: hostile, name: fc.option(hostile), at: fc.tuple(time, time) })
  .map(({ text, ...spoken }) => said(text, spoken));
const transcripts = fc.array(segment, { maxLength: 8 });

const seen = (text: string): string =>
  text
    .replace(/[\u202a-\u202e\u2066-\u2069]/g, '')
    .toWellFormed()
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim();
/** What of a transcript stands in subtitles. */
const shown = (segments: readonly Segment[]) =>
  segments
    .map(({ speaker, text, startTimeSeconds }) => ({ name: seen(speaker?.name ?? ''), text: seen(text), startTimeSeconds }))
    .filter(({ text }) => text !== '')
    .sort((a, b) => Math.round(a.startTimeSeconds * 1000) - Math.round(b.startTimeSeconds * 1000));
const inOrder = (cues: readonly ReadCue[]): boolean =>
  cues.every(({ startMs, endMs }, n) => endMs > startMs && startMs >= (cues[n - 1]?.startMs ?? 0));

describe('a transcript as WebVTT', () => {
  it('has a voice for each speaker', () => {
    expect(written('vtt', said('Good morning.', { at: [0, 1.5] }), said('Yes.', { name: null, at: [1.5, 3.25] }))).toBe(
      'WEBVTT\n\n00:00:00.000 --> 00:00:01.500\n<v Ada>Good morning.\n\n00:00:01.500 --> 00:00:03.250\nYes.\n',
    );
  });

  it('has no arrow where a name ends in hyphens', () => {
    expect(written('vtt', said('Hm.', { name: 'Ada--' }))).toContain('\n<v Ada-&#45;>Hm.\n');
  });

  it('is one without a cue where nobody spoke', () => {
    expect(written('vtt', said(' \n '))).toBe('WEBVTT\n');
  });

  it('[API-05] a player reads what was said, whatever it was', () => {
    fc.assert(
      fc.property(transcripts, (segments) => {
        const cues = readVtt(written('vtt', ...segments));
        expect(cues.map(({ speaker, text }) => [speaker ?? '', text])).toEqual(shown(segments).map(({ name, text }) => [name, text]));
        expect(inOrder(cues)).toBe(true);
      }),
    );
  });
});

describe('a transcript as SubRip', () => {
  it('numbers what was said, with who said it', () => {
    expect(written('srt', said('Good morning.', { at: [0, 1.5] }), said('Yes.', { name: null, at: [1.5, 3.25] }))).toBe(
      '1\n00:00:00,000 --> 00:00:01,500\nAda: Good morning.\n\n2\n00:00:01,500 --> 00:00:03,250\nUnknown speaker: Yes.\n',
    );
  });

  it('[API-05] a player reads what was said, whatever it was', () => {
    fc.assert(
      fc.property(transcripts, (segments) => {
        const cues = readSrt(written('srt', ...segments));
        const expected = shown(segments).map(({ name, text }) => `${name || 'Unknown speaker'}: ${text}`.replaceAll('\u2060', ''));
        expect(cues.map(({ text }) => text)).toEqual(expected);
        expect(inOrder(cues)).toBe(true);
      }),
    );
  });
});

describe('the times of subtitles', () => {
  it.each([
    [[0, 0], '00:00:00.000 --> 00:00:00.001'],
    [[2, 1], '00:00:02.000 --> 00:00:02.001'],
    [[59.9996, 61], '00:01:00.000 --> 00:01:01.000'],
    [[359_999.999, 360_000], '99:59:59.999 --> 100:00:00.000'],
    [[1e300, 1e308], '2501999792:59:00.990 --> 2501999792:59:00.991'],
  ] as const)('from %j are %s', (at, expected) => {
    expect(written('vtt', said('Hm.', { at }))).toContain(`\n${expected}\n`);
  });

  it('rise, whatever the order of the segments', () => {
    const file = written('srt', said('Second.', { at: [5, 6] }), said('First.', { at: [1, 9] }), said('Third.', { at: [5, 5.5] }));
    expect(readSrt(file).map(({ text }) => text)).toEqual(['Ada: First.', 'Ada: Second.', 'Ada: Third.']);
  });
});

describe('a transcript as Markdown', () => {
  it('has a heading, and a paragraph for each turn of a speaker', () => {
    expect(written('markdown', said('Good morning.'), said('Shall we?'), said('Yes.', { name: 'Olga', at: [3661, 3662] }))).toBe(
      '# Weekly\n\n**Ada** (00:00:00)\n\nGood morning. Shall we?\n\n**Olga** (01:01:01)\n\nYes.\n',
    );
  });

  it.each([
    ['# One', '\\# One'],
    ['- one', '\\- one'],
    ['12) one', '12\\) one'],
    ['10.5 percent, 3-4 people', '10\\.5 percent, 3-4 people'],
    ['<b>[x](y)</b> & `z`', '\\<b\\>\\[x\\](y)\\</b\\> \\& \\`z\\`'],
    ['snake_case * \\', 'snake\\_case \\* \\\\'],
  ])('%s is escaped', (text, escaped) => {
    expect(written('markdown', said(text))).toBe(`# Weekly\n\n**Ada** (00:00:00)\n\n${escaped}\n`);
  });

  it('[API-05] takes a time that is linear in the length of what was said', () => {
    const began = performance.now();
    expect(written('markdown', said('1'.repeat(2 ** 19)))).toContain('111');
    expect(performance.now() - began).toBeLessThan(5000);
  });

  it('[API-05] a reader sees what was said, whatever it was', () => {
    fc.assert(
      fc.property(transcripts, hostile, (segments, title) => {
        const page = readMarkdown(transcriptFile({ title, segments }, 'markdown').text);
        expect(page.title).toBe(seen(title) || 'Transcript');
        expect(page.blocks.map(({ text }) => text).join(' ')).toBe(
          segments
            .map(({ text }) => seen(text))
            .filter((text) => text !== '')
            .join(' '),
        );
        expect(page.blocks.every(({ name }) => name !== '')).toBe(true);
      }),
    );
  });
});

describe('the name of the file', () => {
  const nameFor = (title: string | null, format: FileFormat = 'vtt') => transcriptFile({ title, segments: [] }, format).name;

  it.each([
    ['Weekly stand-up', 'Weekly stand-up.vtt'],
    [null, 'Transcript.vtt'],
    [' \n ', 'Transcript.vtt'],
    ['../../etc/passwd', 'etc passwd.vtt'],
    ['C:\\Windows\\"x"?*|<>', 'C Windows x.vtt'],
    ['.hidden. ', 'hidden.vtt'],
    ['CON', '_CON.vtt'],
    ['com1.txt', '_com1.txt.vtt'],
    ['Überblick 你好\r\nSet-Cookie: a=b', 'Überblick 你好 Set-Cookie a=b.vtt'],
    ['gpj.\u202etxt', 'gpj.txt.vtt'],
    ['a\ud800b', 'a\ufffdb.vtt'],
    ['👩'.repeat(300), `${'👩'.repeat(60)}.vtt`],
  ])('of %j is %j', (title, name) => {
    expect(nameFor(title)).toBe(name);
  });

  it.each([
    ['vtt', 'a.vtt'],
    ['srt', 'a.srt'],
    ['markdown', 'a.md'],
  ] as const)('of %s ends as %s', (format, name) => {
    expect(nameFor('a', format)).toBe(name);
  });

  it('is one that every system takes', () => {
    fc.assert(
      fc.property(hostile, (title) => {
        const name = nameFor(title);
        expect(name).not.toMatch(/[\p{Cc}/\\:*?"<>|\u202a-\u202e\u2066-\u2069]|^[\s.]/u);
        expect(Buffer.byteLength(name)).toBeLessThanOrEqual(255);
        expect(name.isWellFormed()).toBe(true);
      }),
    );
  });
});
