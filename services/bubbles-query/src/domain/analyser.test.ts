import { describe, expect, it } from '@jest/globals';
import { tokensOf } from '../../test/search/definition.ts';
import { atOnce, cardText, readPositioned, readWords } from './search-card.ts';

const wordsOf = (text: string): string[] => tokensOf(text).map((token) => token.text);

describe('the analysis of a text', () => {
  it.each([
    ['Follow-up', ['followup', 'follow', 'up']],
    ['node.js', ['nodejs', 'node', 'js']],
    ["O'Brien O’Brien", ['obrien', 'o', 'brien', 'obrien', 'o', 'brien']],
    ['2024-05-12', ['20240512', '2024', '05', '12']],
    ["Alice's", ['alices', 'alice']],
    ["O'Brien's", ['obriens', 'o', 'brien']],
    ['C++ and C#', ['c++', 'c', 'and', 'c#', 'c']],
    ['abc++ c++17', ['abc', 'c', '17']],
    ['GitHub HTTPServer APIs iPhone', ['github', 'git', 'hub', 'httpserver', 'http', 'server', 'apis', 'iphone', 'i', 'phone']],
    ['R&D 1:1', ['rd', 'r', 'd', '11', '1', '1']],
    ['a--b &hi hi. (x)', ['a', 'b', 'hi', 'hi', 'x']],
    ['Hitman™ ©2024', ['hitman', '2024']],
    ['v1.5 V2.0.1', ['v15', '1', '5', 'v201', '2', '0', '1']],
    ['v2 v1.x rev1.5 v1.', ['v2', 'v1x', 'v1', 'x', 'rev15', 'rev1', '5', 'v1']],
    ['1,000,000', ['1000000', '1', '000', '000']],
    ['1\u00a0000\u202f000.50', ['100000050', '1', '000', '000', '50']],
    ['12,34,567 2,5', ['1234567', '12', '34', '567', '25', '2', '5']],
    ['2024 100, 200 a 100', ['2024', '100', '200', 'a', '100']],
    ['x1 000 1 0000 1 00', ['x1', '000', '1', '0000', '1', '00']],
    ['١٬٠٠٠', ['١٠٠٠', '١', '٠٠٠']],
  ])('[SRCH-02] divides %s', (text, tokens) => {
    expect(wordsOf(text)).toEqual(tokens);
  });

  it.each([
    ['Café Zürich Ångström', 'cafe zurich angstrom'],
    ['Straße ŒUVRE Søren Łukasz Đặng Þór', 'strasse oeuvre soren lukasz dang thor'],
    ['İstanbul ısı', 'istanbul isi'],
    ['ΝΙΚΟΣ Νίκος', 'νικοσ νικοσ'],
    ['Ёлка', 'елка'],
    ['أحمد إلى قهوة اِجتماع', 'احمد الي قهوه اجتماع'],
    ['שָׁלוֹם', 'שלום'],
    ['ＦＵＬＬ', 'full'],
    ['회의록', '회의록'],
    ['zero\u200bwidth\u00ad\u202e', 'zerowidth'],
    ['हिन्दी', 'हिन्दी'],
  ])('[SRCH-02] folds %s', (text, folded) => {
    expect(wordsOf(text).join(' ')).toBe(folded.normalize('NFC'));
  });

  it.each([
    ['of one kind', '\u0e48'.repeat(500)],
    ['of several kinds', '\u0e48\u0e38'.repeat(250)],
    ['that are letters until composed', `${'\u0e48'.repeat(20)}\uff9e`.repeat(25)],
  ])('[SRCH-02] reads no more than 30 marks of a run %s, which no text of sense has', (_, marks) => {
    const characters = wordsOf(`\u0e01${marks} end`).filter((word) => word.length === 1);
    expect(characters.length).toBeLessThanOrEqual(31);
    expect(wordsOf(`\u0e01${marks} end`)).toContain('end');
  });

  it('[SRCH-02] does not read on where a few letters stand for very many', () => {
    expect(tokensOf('\ufdfa'.repeat(2048)).length).toBeLessThan(2000);
    expect(wordsOf('\ufdfa')).toHaveLength(4);
  });

  it('[SRCH-02] gives pairs and single characters of unspaced scripts, keeping voicing marks and vowel signs', () => {
    expect(wordsOf('東京大')).toEqual(['東', '東京', '京', '京大', '大']);
    expect(wordsOf('ガｶﾞ')).toEqual(['ガ', 'ガガ', 'ガ']);
    expect(wordsOf('ดี')).toEqual(['ด', 'ดี', 'ี']);
    expect(wordsOf('第3回x')).toEqual(['第', '3', '回', 'x']);
  });

  it('[SRCH-02] joins katakana over middle dots, and says which pairs prolonged sound marks divide', () => {
    expect(wordsOf('ア・イ')).toEqual(wordsOf('アイ'));
    expect(wordsOf('ｱ･ｲ゠ウ＝エ')).toEqual(wordsOf('アイウエ'));
    expect(wordsOf('東・京')).toEqual(['東', '京']);
    expect(wordsOf('ア-イ')).toEqual(wordsOf('アーイ'));
    expect(wordsOf('アーイ')).toEqual(['ア', 'アー', '~アイ', 'ー', 'ーイ', 'イ']);
    expect(wordsOf('アーーイー')).toEqual(['ア', 'アー', '~アイ', 'ー', 'ーー', 'ー', 'ーイ', 'イ', 'イー', 'ー']);
  });

  it('[SRCH-02] takes emoji, sequences and flags as words, whatever their variation or skin', () => {
    expect(wordsOf('🚀👍🏽 👩‍💻 🇩🇪🇫🇷 ❤️')).toEqual(['🚀', '👍', '👩‍💻', '🇩🇪', '🇫🇷', '❤']);
  });

  it('places a compound over its parts', () => {
    expect(tokensOf('big follow-up now')).toEqual([
      { text: 'big', start: 0, end: 0 },
      { text: 'followup', start: 1, end: 2 },
      { text: 'follow', start: 1, end: 1 },
      { text: 'up', start: 2, end: 2 },
      { text: 'now', start: 3, end: 3 },
    ]);
  });

  it('cuts endless tokens, never within a character', () => {
    expect(wordsOf('a'.repeat(1000))).toEqual(['a'.repeat(128)]);
    expect(wordsOf(`a${'𐐀'.repeat(200)}`)[0]?.isWellFormed()).toBe(true);
  });

  it('[SRCH-02] finds the same in a long text as in its pieces', () => {
    const pieces = ['Follow-up 1,000,000 ', '東京オフィス・データ。', 'v1.5 1 000 000 ', 'naïve שלום ', 'サーバー室！', '👩‍💻👍🏽 '];
    const text = Array.from({ length: 3000 }, (_, at) => pieces[(at * 7 + (at >> 3)) % pieces.length]).join('');
    const apart = pieces.flatMap(wordsOf);
    expect(new Set(wordsOf(text)).difference(new Set(apart))).toEqual(new Set());
    expect(new Set(apart).difference(new Set(wordsOf(text)))).toEqual(new Set());
  });

  it('[SRCH-02] loses no pair of an unspaced text without end, and parts no character', () => {
    const letters = Array.from({ length: 9000 }, (_, at) => String.fromCodePoint((at % 5 === 0 ? 0x20000 : 0x4e00) + ((at * 7919) % 9000)));
    const words = new Set(wordsOf(letters.join('')));
    letters.slice(1).forEach((letter, at) => {
      expect(words.has(`${letters[at]}${letter}`)).toBe(true);
    });
    for (const flood of ['a\u0301', '👩\u200d💻', 'ガ', '\u{1f44d}\u{1f3fd}', 'กำ', 'é'])
      for (const word of wordsOf(flood.repeat(5000))) expect([word, word.isWellFormed()]).toEqual([word, true]);
  });

  it.each(['\u0301', '\u200d', '\ud800', '\udc00', '\0', 'ー', 'ア・', '1,', '1 000 ', 'v1.', '\u202e', 'aB', "'", '-'])(
    'takes a flood of %j',
    (flood) => {
      expect(tokensOf(flood.repeat(20_000)).every(({ text, start, end }) => text.length <= 130 && start <= end)).toBe(true);
    },
  );

  it('survives text that is not well formed', () => {
    expect(wordsOf('\ud800 ok \udc00')).toEqual(['ok']);
  });
});

describe('a card', () => {
  it('says every token of the title with its place and every word of the notes once', () => {
    const card = atOnce(cardText({ title: 'Follow-up C++', summary: 'one two one' }));
    expect(card).toEqual({ title: 'followup:0-1 follow:0 up:1 c++:2 c:2', notes: 'one two' });
    expect(readPositioned(card.title)).toEqual(tokensOf('Follow-up C++'));
    expect(readWords(card.notes)).toEqual(['one', 'two']);
  });

  it('is empty for a bubble without text', () => {
    expect(atOnce(cardText({ title: null, summary: null }))).toEqual({ title: '', notes: '' });
    expect(readPositioned('')).toEqual([]);
    expect(readWords('')).toEqual([]);
  });
});
