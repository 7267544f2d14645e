import { execFileSync } from 'node:child_process';
import { ROOT } from '../architecture/sources.ts';

const FOLDER = 'contracts/released';

const gitIn =
  (root: string) =>
  (...args: readonly string[]): readonly string[] =>
    execFileSync('git', [...args], { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 28 })
      .split('\n')
      .filter((line) => line !== '');

/** By the number of each release the commit that kept it, whose tree is what was released. */
const commitsIn = (root: string): ReadonlyMap<string, string> => {
  const added = gitIn(root)('log', '--reverse', '--diff-filter=A', '--format=commit %H', '--name-only', '--', FOLDER);
  const firstCommit = new Map<string, string>();
  let commit = '';
  for (const line of added) {
    if (line.startsWith('commit ')) commit = line.slice('commit '.length);
    const release = new RegExp(`^${FOLDER}/(\\d+)/`).exec(line)?.[1];
    if (release !== undefined && !firstCommit.has(release)) firstCommit.set(release, commit);
  }
  return firstCommit;
};

/** Refuses when the history of this clone does not reach back to it. */
export const commitOf = (release: number, root = ROOT): string => {
  const commit = commitsIn(root).get(String(release));
  if (commit === undefined) throw new Error(`No commit keeps release ${release}: commit contracts/released/${release}.`);
  const git = gitIn(root);
  // The oldest commit of a shallow clone seems to have added every file.
  const isCutOff = git('rev-parse', '--is-shallow-repository')[0] === 'true' && git('rev-list', '--max-parents=0', 'HEAD').includes(commit);
  if (isCutOff) throw new Error(`The history of this clone is too short for the commit of release ${release}: git fetch --unshallow`);
  return commit;
};

/** A release is kept as it was committed first: no file of it changes, comes or goes. */
export const historyFaults = (root = ROOT): readonly string[] => {
  const git = gitIn(root);
  return [...commitsIn(root)].flatMap(([release, first]) => {
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
