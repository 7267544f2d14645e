import { existsSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { documents, ROOT, type Source } from './sources.ts';

/** The fragment under which GitHub shows a heading. */
const fragmentOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
    .replaceAll(' ', '-');

const headingsOf = ({ text }: Source): readonly string[] =>
  [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => fragmentOf(heading));

/** Links to other files and headings of the repository that lead nowhere. */
const brokenLinks = (all: readonly Source[]): readonly string[] =>
  all.flatMap(({ path, text }) =>
    [...text.matchAll(/\]\(([^)\s]+)\)/g)]
      .map(([, target = '']) => target)
      .filter((target) => !/^[a-z]+:/.test(target))
      .filter((target) => {
        const [file = '', fragment] = target.split('#');
        const place = file === '' ? path : normalize(join(dirname(path), file));
        if (!existsSync(join(ROOT, place))) return true;
        const document = all.find((one) => one.path === place);
        return fragment !== undefined && (document === undefined || !headingsOf(document).includes(fragment));
      })
      .map((target) => `${path}: ${target}`),
  );

describe('documents', () => {
  it('link to files and headings that exist', () => {
    const all = documents();
    expect(all.length).toBeGreaterThan(20);
    expect(brokenLinks(all)).toEqual([]);
  });

  it('would be told of a link that leads nowhere', () => {
    const text = '# Top\n[a](#top) [b](#bottom) [c](b.md) [d](absent.md) [e](https://example.com)';
    const planted = [{ path: 'README.md', text }];
    expect(brokenLinks(planted)).toEqual(['README.md: #bottom', 'README.md: b.md', 'README.md: absent.md']);
  });
});
