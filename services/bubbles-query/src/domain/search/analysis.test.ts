import { describe, expect, it } from '@jest/globals';
import { tokensOf } from './analysis.ts';
import { cardText, readPlaced, readWords } from './card.ts';

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

  it('[SRCH-02] gives pairs and single characters of unspaced scripts, keeping voicing marks and vowel signs', () => {
    expect(wordsOf('東京大')).toEqual(['東', '東京', '京', '京大', '大']);
    expect(wordsOf('ガｶﾞ')).toEqual(['ガ', 'ガガ', 'ガ']);
    expect(wordsOf('ดี')).toEqual(['ด', 'ดี', 'ี']);
    expect(wordsOf('第3回x')).toEqual(['第', '3', '回', 'x']);
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

  it('survives text that is not well formed', () => {
    expect(wordsOf('\ud800 ok \udc00')).toEqual(['ok']);
  });
});

describe('a card', () => {
  it('says every token of the title with its place and every word of the notes once', () => {
    const card = cardText({ title: 'Follow-up C++', summary: 'one two one' });
    expect(card).toEqual({ title: 'followup:0-1 follow:0 up:1 c++:2 c:2', notes: 'one two' });
    expect(readPlaced(card.title)).toEqual(tokensOf('Follow-up C++'));
    expect(readWords(card.notes)).toEqual(['one', 'two']);
  });

  it('is empty for a bubble without text', () => {
    expect(cardText({ title: null, summary: null })).toEqual({ title: '', notes: '' });
    expect(readPlaced('')).toEqual([]);
    expect(readWords('')).toEqual([]);
  });
});
