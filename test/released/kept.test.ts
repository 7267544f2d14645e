import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { changelogOf, withPart } from './changelog.ts';
import { changesBetween } from './changes.ts';
import { type Break, withoutExcepted } from './compare.ts';
import { commitOf, historyFaults } from './history.ts';
import { ADDITIONS, mutated } from './mutations.ts';
import { currentDocuments, type Exception } from './releases.ts';

describe('a release', () => {
  let root = '';
  const git = (...args: readonly string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...args], { cwd: root });
  const write = (path: string, text: string) => writeFileSync(join(root, 'contracts/released', path), text);
  const commit = () => {
    git('add', '-A');
    git('commit', '-qm', 'Change');
  };
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'releases-'));
    for (const release of ['1', '2']) mkdirSync(join(root, 'contracts/released', release), { recursive: true });
    git('init', '-q');
    write('1/a.json', '1');
    write('running.json', '1');
    commit();
  });
  afterEach(() => rmSync(root, { recursive: true }));

  it('is as it was when it was kept first, and another one comes beside it', () => {
    expect(historyFaults(root)).toEqual([]);
    write('2/a.json', '2');
    expect(historyFaults(root)).toEqual([]);
    commit();
    write('running.json', '2');
    commit();
    expect(historyFaults(root)).toEqual([]);
  });

  it('is the tree of the commit that kept it first', () => {
    const [first] = git('rev-parse', 'HEAD').toString().split('\n');
    write('running.json', '2');
    commit();
    expect(commitOf(1, root)).toBe(first);
    write('2/a.json', '2');
    expect(() => commitOf(2, root)).toThrow('commit contracts/released/2');
    commit();
    expect(commitOf(2, root)).toBe(git('rev-parse', 'HEAD').toString().trim());
  });

  it('has no tree in a clone that does not reach back to it', () => {
    const clone = join(root, 'clone');
    const cloneIt = () => git('clone', '-q', '--depth', '2', `file://${root}`, clone);
    for (const text of ['2', '3']) {
      write('running.json', text);
      commit();
    }
    cloneIt();
    expect(() => commitOf(1, clone)).toThrow('git fetch --unshallow');
    rmSync(clone, { recursive: true });
    write('running.json', '4');
    write('2/a.json', '2');
    commit();
    cloneIt();
    expect(commitOf(2, clone)).toBe(git('rev-parse', 'HEAD').toString().trim());
  });

  it.each([
    ['changed', () => write('1/a.json', '2'), 'contracts/released/1/a.json was changed in release 1'],
    ['added to', () => write('1/b.json', '2'), 'contracts/released/1/b.json was added to release 1'],
    ['taken from', () => rmSync(join(root, 'contracts/released/1/a.json')), 'contracts/released/1/a.json is gone from release 1'],
  ])('is not %s, whether committed or not', (_, change, says) => {
    change();
    expect(historyFaults(root)).toEqual([expect.stringContaining(says)]);
    commit();
    expect(historyFaults(root)).toEqual([expect.stringContaining(says)]);
  });
});

describe('an exception', () => {
  const found: Break = {
    ...{ contract: 'internal', producer: 'bubbles-query', consumers: ['webhooks-dispatcher'], remedy: 'keep' },
    ...{ place: 'POST /internal/v1/readable', field: 'answer 200', change: 'Property a was removed' },
  };
  const exception: Exception = {
    ...{ producer: 'bubbles-query', place: found.place, change: found.change, untilRelease: 3 },
    reason: 'No consumer of a release reads it.',
  };

  it('lets an internal change or one of an event pass until its release', () => {
    for (const contract of ['internal', 'event'] as const) {
      const one = { ...found, contract };
      expect(withoutExcepted([one], [exception], 3)).toEqual({ left: [], refused: [] });
      expect(withoutExcepted([one], [exception], 4)).toEqual({ left: [one], refused: [expect.stringContaining('held until release 3')] });
    }
  });

  it('lets nothing pass that clients or receivers meet', () => {
    for (const contract of ['public', 'webhook'] as const) {
      const one = { ...found, contract };
      expect(withoutExcepted([one], [exception], 3)).toEqual({ left: [one], refused: [expect.stringContaining('is refused')] });
    }
    const mark = { ...found, place: 'GET /v1/bubbles', change: 'the mark x-gw-auth changed' };
    const { left, refused } = withoutExcepted([mark], [{ ...exception, place: mark.place, change: mark.change }], 3);
    expect({ left, refused }).toEqual({ left: [mark], refused: [expect.stringContaining('is refused')] });
  });

  it('means one change, and goes when it is needed no more', () => {
    const other = { ...found, change: 'Property b was removed' };
    expect(withoutExcepted([other], [exception], 3)).toEqual({ left: [other], refused: [expect.stringContaining('is needed no more')] });
    const ofPacts = { ...exception, change: 'the pact of webhooks-dispatcher' };
    expect(withoutExcepted([], [ofPacts], 3)).toEqual({ left: [], refused: [] });
  });
});

describe('the changelog', () => {
  it('tells what the documents tell, and keeps what was told before', async () => {
    const before = currentDocuments();
    const pair = { base: before.merged, revision: mutated(before, ADDITIONS).merged, today: '2026-12-01' };
    const sections = [{ title: 'Public API', pair, changes: await changesBetween(pair.base, pair.revision) }];
    const part = changelogOf({ release: 2, on: '2026-12-01', sections });
    expect(part).toMatch(/^## \[2\] - 2026-12-01\n\n### Added\n\n/);
    expect(part).toContain('- Public API: `GET /v1/bubbles`: query parameter pinned\n');
    expect(part).toContain('### Deprecated\n\n- Public API: `GET /v1/bubbles/{id}/comments`\n');
    const first = withPart(null, changelogOf({ release: 1, on: '2026-11-29', sections: [] }));
    const second = withPart(first, part);
    expect(second.match(/^## .*$/gm)).toEqual(['## [2] - 2026-12-01', '## [1] - 2026-11-29']);
    expect(second.match(/^# Changelog$/gm)).toHaveLength(1);
  });
});
