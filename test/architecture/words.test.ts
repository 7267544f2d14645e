import { describe, expect, it } from '@jest/globals';
import { allSources, places, productSources, type Source } from './sources.ts';

const REFUSED =
  /\bfor now\b|\bplaceholder\b|in a real implementation|not implemented|\bstub(s|bed)?\b|\bmock(s|ed|ing)?\b|\bTODO\b|\bFIXME\b|\bXXX\b|\bHACK\b|simplified version/i;

const product = productSources();
const inner = product.filter(({ path }) => /^services\/[^/]+\/src\/(domain|use-cases)\//.test(path));
const RUNS_SERVICES = 'shared/host/src/service-process.ts';
const outsideMain = product.filter(({ path }) => !path.endsWith('/src/main.ts') && path !== RUNS_SERVICES);
const isPort = ({ path }: Source): boolean => /^shared\/kernel\/src\/(clock|ids)\.ts$|^deploy\/sandbox\/src\/clock\//.test(path);

describe('product code', () => {
  it('is there', () => {
    expect(product.length).toBeGreaterThan(50);
    expect(inner.length).toBeGreaterThan(10);
  });

  it('promises nothing for later and pretends nothing', () => {
    expect(places(product, REFUSED)).toEqual([]);
  });

  it('reads its environment in main.ts and where the process of a service begins alone', () => {
    expect(places(outsideMain, /\bprocess\.env\b/)).toEqual([]);
  });

  it('takes time and randomness from ports', () => {
    const elsewhere = product.filter((source) => !isPort(source));
    expect(places(elsewhere, /\bnew Date\(\)|\bDate\.now\(|\bcrypto\.(random|getRandom)|^import .*\brandom\w+\b.*'node:crypto'/)).toEqual(
      [],
    );
    // Jitter is an option of a mechanism, and random where none is given.
    expect(
      places(
        product.filter(({ path }) => !path.startsWith('shared/')),
        /\bMath\.random\b/,
      ),
    ).toEqual([]);
    expect(places(inner, /\bperformance\.|\brandom[A-Z]/)).toEqual([]);
  });

  it('waits through the clock', () => {
    expect(places(inner, /\bset(Timeout|Interval|Immediate)\(/)).toEqual([]);
  });

  it('lets no fault be: no empty catch', () => {
    expect(places(product, /catch\s*(\([^)]*\))?\s*\{\s*\}|\.catch\(\(\)\s*=>\s*\{\s*\}\)/)).toEqual([]);
  });
});

/** Words that a reader has to decode, and constants such as `CARDS_A_RUN`, which are `CARDS_PER_RUN`. */
const RIDDLES = /\bwhom\b|\banew\b|\bso many\b|\bcannot be had\b|\b[A-Z]+(?:_[A-Z]+)*S_AN?_[A-Z]+\b/i;

describe('what people write', () => {
  it('is plain', () => {
    const planted = { path: 'a.ts', text: '/** Of whom. */\n// So many times.\nconst CARDS_A_RUN = 1;\nconst AT_A_GLANCE = 1;' };
    expect(places([planted], RIDDLES)).toHaveLength(3);
    expect(
      places(
        allSources().filter(({ path }) => !path.endsWith('words.test.ts')),
        RIDDLES,
      ),
    ).toEqual([]);
  });
});
