import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ProcessPlan, StackLayout } from '../../../deploy/stack/src/plan.ts';
import { ROOT } from '../../architecture/sources.ts';

/** The sources of a commit in a folder of their own, ready to run. */
export interface ReleasedTree {
  readonly root: string;
  /** As its own code plans them, with the keys in `home`. */
  plans(layout: StackLayout, home: string): readonly ProcessPlan[];
  remove(): void;
}

const MAX_BYTES = 2 ** 28;
const PLAN = `
const [root, folder, layout] = process.argv.slice(1);
const { planProcesses } = await import(root + '/deploy/stack/src/plan.ts');
const { openKeys } = await import(root + '/deploy/keys/src/keys.ts');
process.stdout.write(JSON.stringify(planProcesses(JSON.parse(layout), openKeys(folder))));
`;

export const releasedTree = (commit: string): ReleasedTree => {
  const root = mkdtempSync(join(tmpdir(), 'release-'));
  const archive = execFileSync('git', ['archive', commit], { cwd: ROOT, maxBuffer: MAX_BYTES });
  execFileSync('tar', ['x'], { cwd: root, input: archive });
  install(root);
  return {
    root,
    plans(layout, home) {
      const args = ['--input-type=module', '-e', PLAN, root, join(home, 'keys'), JSON.stringify(layout)];
      return JSON.parse(execFileSync(process.execPath, args, { cwd: root, encoding: 'utf8' }));
    },
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
};

/** With the same lock file the packages are those of the tree, whose links to the workspace are relative. */
const install = (root: string): void => {
  const lockIn = (folder: string) => readFileSync(join(folder, 'package-lock.json'), 'utf8');
  if (lockIn(root) !== lockIn(ROOT)) {
    execFileSync('npm', ['ci', '--omit=dev', '--no-audit', '--no-fund'], { cwd: root, stdio: 'pipe' });
    return;
  }
  execFileSync('cp', ['-al', join(ROOT, 'node_modules'), root]);
  rmSync(join(root, 'node_modules/.cache'), { recursive: true, force: true });
};
