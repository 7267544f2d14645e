import { execFileSync } from 'node:child_process';
import { ROOT } from '../architecture/sources.ts';

const FOLDER = 'contracts/released';

/** A release is kept as it was committed first: no file of it changes, comes or goes. */
export const historyFaults = (root = ROOT): readonly string[] => {
  const git = (...args: readonly string[]): readonly string[] =>
    execFileSync('git', [...args], { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 28 })
      .split('\n')
      .filter((line) => line !== '');
  const added = git('log', '--reverse', '--diff-filter=A', '--format=commit %H', '--name-only', '--', FOLDER);
  const firstCommit = new Map<string, string>();
  let commit = '';
  for (const line of added) {
    if (line.startsWith('commit ')) commit = line.slice('commit '.length);
    const release = new RegExp(`^${FOLDER}/(\\d+)/`).exec(line)?.[1];
    if (release !== undefined && !firstCommit.has(release)) firstCommit.set(release, commit);
  }
  return [...firstCommit].flatMap(([release, first]) => {
    const folder = `${FOLDER}/${release}`;
    const changed = git('diff', '--name-status', '--no-renames', first, '--', folder);
    const untracked = git('ls-files', '--others', '--exclude-standard', '--', folder).map((path) => `A\t${path}`);
    return [...changed, ...untracked].map((line) => {
      const [status = '', path = ''] = line.split('\t');
      const what = status === 'A' ? 'was added to' : status === 'D' ? 'is gone from' : 'was changed in';
      return `${path} ${what} release ${release}, which is kept as it was: git checkout ${first.slice(0, 12)} -- ${folder}, or make the next release.`;
    });
  });
};
