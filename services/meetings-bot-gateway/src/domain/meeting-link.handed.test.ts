import { testData } from '@bubbles/testing/test-data.ts';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type MeetingLink, parseMeetingLink } from './meeting-link.ts';

interface Case {
  readonly id: string;
  readonly input: unknown;
  readonly valid: boolean;
  readonly platform: string | null;
  readonly normalized: string | null;
  readonly dedupe_key: string | null;
}
// The file's shape is fixed beside it; a row that differs fails the count below.
const cases = JSON.parse(testData('meeting-links.json')) as readonly Case[];
/** The endpoint refuses what is no text before it comes here. */
const handed = cases.flatMap(({ input, ...row }) => (typeof input === 'string' ? [{ ...row, input }] : []));

const RUNS = { numRuns: 3000 };
const LETTERS = 'abcdefghijklmnopqrstuvwxyz';
const DIGITS = '0123456789';
const textOf = (alphabet: string, minLength: number, maxLength = minLength) =>
  fc.string({ unit: fc.constantFrom(...alphabet), minLength, maxLength });

const passcode = textOf(`${LETTERS}${LETTERS.toUpperCase()}${DIGITS}._~=-`, 1, 40);
const site = textOf(`${LETTERS}${DIGITS}`, 1, 12);
const guid = fc.uuid();
const thread = textOf(`${LETTERS}${LETTERS.toUpperCase()}${DIGITS}_-`, 1, 60).map((id) => `19%3Ameeting_${id}%40thread.v2`);
/** Links that are rebuilt as they are: whatever else a caller adds is not captured. */
const canonical = fc.oneof(
  fc.tuple(textOf(LETTERS, 3), textOf(LETTERS, 4), textOf(LETTERS, 3)).map((code) => `https://meet.google.com/${code.join('-')}`),
  fc
    .tuple(
      fc.constantFrom('zoom.us', 'zoomgov.com', 'zoom-x.de', 'zoom.com.cn'),
      site,
      fc.constantFrom('j', 'w'),
      textOf(DIGITS, 9, 11),
      passcode,
    )
    .map(([cloud, name, kind, id, pwd]) => `https://${name}.${cloud}/${kind}/${id}?pwd=${pwd}`),
  fc.tuple(textOf(DIGITS, 9, 15), passcode).map(([id, p]) => `https://teams.microsoft.com/meet/${id}?p=${p}`),
  fc
    .tuple(thread, guid, guid)
    .map(
      ([id, tid, oid]) =>
        `https://teams.microsoft.com/l/meetup-join/${id}/0?context=%7B%22Tid%22%3A%22${tid}%22%2C%22Oid%22%3A%22${oid}%22%7D`,
    ),
  fc.tuple(site, textOf('0123456789abcdef', 32)).map(([name, id]) => `https://${name}0.webex.com/${name}/j.php?MTID=m${id}`),
  textOf(DIGITS, 9).map((id) => `https://meet.goto.com/${id}`),
);
const visible = fc.string({ unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)), maxLength: 30 });
const anyText = fc.string({ unit: 'binary', maxLength: 4 });
/** What parsers of URLs map, drop or read in different ways. */
const DISPUTED = [
  '@',
  '\\',
  '/',
  '//',
  '?',
  '#',
  ':',
  '.',
  '%',
  '%2f',
  '%00',
  '%2e%2e',
  '\t',
  '\n',
  ' ',
  '\u00ad',
  '\u3002',
  '\u212a',
  '\uff0e',
  '[',
  '|',
  '..',
  'xn--',
  ':443',
  '.evil.example',
  '&amp;',
  'https://',
];

/** Accepted and refused links of all kinds with a piece put in, taken out or exchanged somewhere. */
const disturbed = fc
  .tuple(
    fc.oneof(fc.constantFrom(...handed.map(({ input }) => input)), canonical),
    fc.array(fc.tuple(fc.nat(), fc.nat(3), fc.oneof(fc.constantFrom(...DISPUTED), anyText, visible)), { maxLength: 3 }),
  )
  .map(([link, changes]) =>
    changes.reduce((text, [at, dropped, piece]) => {
      const start = at % (text.length + 1);
      return text.slice(0, start) + piece + text.slice(start + dropped);
    }, link),
  );

describe('handed links', () => {
  it('has all handed cases', () => expect([cases.length, handed.length]).toEqual([163, 160]));

  it.each(handed.filter(({ valid }) => valid))('[MEET-02] $id is a meeting: $input', ({ input, platform, normalized, dedupe_key }) => {
    expect(parseMeetingLink(input)).toEqual({ platform, url: normalized, key: dedupe_key });
  });

  it.each(handed.filter(({ valid }) => !valid))('[MEET-02] $id is refused: $input', ({ input }) => {
    expect(parseMeetingLink(input)).toEqual({ refused: expect.stringMatching(/^meeting_url: must .+\.$/) });
  });

  it('[MEET-13] are refused in words that hold nothing of what was sent', () => {
    const texts = handed.filter(({ valid }) => !valid).map(({ input }) => parseMeetingLink(input));
    expect(new Set(texts.map((link) => JSON.stringify(link))).size).toBeLessThan(11);
  });
});

const accepted = (text: string): MeetingLink | null => {
  const link = parseMeetingLink(text);
  return 'refused' in link ? null : link;
};

/** Nothing but this leaves the parser. */
const REBUILT = /^https:\/\/[a-z\d.-]+\/[\w./-]*(?:[\w.-]|%3A[\w=-]+%40[\w.]+\/\d+)(?:\?[\w.~=&%-]+)?$/;
const WRAPPER = /^(?:https:\/\/)?(?:[^/]+\.safelinks\.protection\.|(?:www\.)?google\.com)/i;
/** Hosts that lead to another one, which the rebuilt link names. */
const mainHost = (host: string) => host.replace(/(^|\.)zoom\.com$/, '$1zoom.us');

describe('properties of the link parser', () => {
  it('[MEET-02] rebuilds what it rebuilt as the same link', () => {
    fc.assert(
      fc.property(disturbed, (text) => {
        const link = accepted(text);
        if (link !== null) expect(parseMeetingLink(link.url)).toEqual(link);
      }),
      RUNS,
    );
  });

  it('[MEET-02] rebuilds a canonical link as it is', () => {
    fc.assert(
      fc.property(canonical, (link) => expect(accepted(link)?.url).toBe(link)),
      RUNS,
    );
  });

  it('[MEET-13] lets no character survive outside the captured parts', () => {
    fc.assert(
      fc.property(canonical, visible, visible, (link, parameterName, fragment) => {
        const added = parameterName.replace(/[#&=]/g, '');
        const joint = link.includes('?') ? '&' : '?';
        expect(accepted(`${link}${joint}_${added}=${added}&#${fragment}`)?.url).toBe(link);
      }),
      RUNS,
    );
    fc.assert(
      fc.property(disturbed, (text) => {
        const link = accepted(text);
        if (link !== null) expect(link.url).toMatch(REBUILT);
      }),
      RUNS,
    );
  });

  it('[MEET-02] accepts no link whose host a URL parser reads differently', () => {
    fc.assert(
      fc.property(disturbed, (text) => {
        const link = accepted(text);
        if (link === null) return;
        const rebuilt = new URL(link.url);
        expect(rebuilt.href).toBe(link.url);
        if (WRAPPER.test(text) || text.includes('light-meetings')) return;
        const read = new URL(/^https:/i.test(text) ? text : `https://${text}`);
        expect([read.protocol, mainHost(read.hostname), read.port, read.username, read.password]).toEqual([
          'https:',
          rebuilt.hostname,
          '',
          '',
          '',
        ]);
      }),
      RUNS,
    );
  });

  it('[MEET-06] has no passcode in the key', () => {
    fc.assert(
      fc.property(canonical, textOf(LETTERS, 25), (link, secret) => {
        const withSecret = link.replace(/\?(pwd|p)=.*$/, `?$1=${secret}`);
        expect(accepted(withSecret)?.key).toBe(accepted(link)?.key);
        expect(accepted(withSecret)?.key).not.toContain(secret);
      }),
      RUNS,
    );
  });

  it('[MEET-02] never throws, whatever the text', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary', maxLength: 3000 }), visible, disturbed), (text) => {
        const link = parseMeetingLink(text);
        expect('refused' in link ? link.refused : link.url).toMatch(/^(?:meeting_url: must |https:\/\/)/);
      }),
      RUNS,
    );
  });
});
