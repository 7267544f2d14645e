import { describe, expect, it } from '@jest/globals';
import { parseQuery } from './search-query.ts';

const wordsOf = (text: string) => parseQuery(text).units.map(({ word, pairs }) => word ?? pairs);
const numbered = (count: number): string => Array.from({ length: count }, (_, index) => `word${index}`).join(' ');

describe('a query', () => {
  it.each([
    [1, 0],
    [2, 0],
    [3, 1],
    [4, 1],
    [5, 2],
    [7, 2],
    [8, 3],
    [10, 4],
    [40, 4],
  ])('[SRCH-02] of %i words may miss %i', (count, missing) => {
    expect(parseQuery(numbered(count)).mayMiss).toBe(missing);
  });

  it('[SRCH-02] drops stop words beside content words, before it counts ten', () => {
    expect(wordsOf('the road to the map')).toEqual(['road', 'map']);
    expect(wordsOf('to be or with it')).toEqual(['to', 'be', 'or', 'with', 'it']);
    expect(wordsOf(`the ${numbered(12)}`)).toEqual(numbered(10).split(' '));
  });

  it('[SRCH-02] counts a word typed twice once', () => {
    expect(wordsOf('github GITHUB github')).toEqual(['github']);
  });

  it('[SRCH-02] gives a compound two forms and an unspaced run its pairs', () => {
    expect(parseQuery('node.js').units).toEqual([{ word: 'nodejs', parts: ['node', 'js'], pairs: null, loosePairs: null, glued: [] }]);
    expect(parseQuery('発布会').units).toEqual([{ word: null, parts: null, pairs: ['発布', '布会'], loosePairs: null, glued: [] }]);
    expect(parseQuery('京').units).toEqual([{ word: '京', parts: null, pairs: null, loosePairs: null, glued: [] }]);
  });

  it('[SRCH-02] looks for katakana also without its prolonged sound marks', () => {
    const looseOf = (text: string) => parseQuery(text).units.map(({ loosePairs }) => loosePairs);
    expect(looseOf('サーバー')).toEqual([['サバ']]);
    expect(looseOf('サバ室')).toEqual([['サバ', 'バ室']]);
    expect(looseOf('ビー ー ーーー 東京 ラ')).toEqual([null, null, null, null, null]);
  });

  it('[LIST-08] binds cursors as earlier releases did', () => {
    expect(parseQuery('node.js サーバ').canonical).toBe(
      '[[{"word":"nodejs","parts":["node","js"],"pairs":null,"glued":[]},{"word":null,"parts":null,"pairs":["サー","ーバ"],"glued":[]}],[null,null],["node","js","サ","ー","バ"]]',
    );
  });

  it('[SRCH-02] bridges neighbours only, and glues a stop word to its neighbour', () => {
    expect(parseQuery('road map 🚀 c++ plan').bridges).toEqual(['roadmap', null, null, null, null]);
    expect(parseQuery('road to map').bridges).toEqual([null, null]);
    expect(parseQuery('on boarding').units).toEqual([
      { word: 'boarding', parts: null, pairs: null, loosePairs: null, glued: ['onboarding'] },
    ]);
  });

  it('[LIST-08] has one canonical form for what ranks alike', () => {
    expect(parseQuery('  PHOENIX,  plan').canonical).toBe(parseQuery('phoenix plan').canonical);
    expect(parseQuery('plan phoenix').canonical).not.toBe(parseQuery('phoenix plan').canonical);
    expect(parseQuery('GitHub').canonical).not.toBe(parseQuery('github').canonical);
  });

  it.each(['a', 'a'.repeat(256), '🚀'.repeat(256), '!!!', '(.*)+[', '\u0301', '%%%', '\ud800'])('[SRCH-01] takes %j', (text) => {
    expect(parseQuery(text).units.length).toBeLessThanOrEqual(10);
  });

  it.each(['!!! ???', '(.*)+[', '%%%%', '\u200f\u200b', "'", '-_-'])('[SRCH-01] %j has nothing to look for', (text) => {
    expect(parseQuery(text).units).toEqual([]);
  });
});
