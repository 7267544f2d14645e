import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { ROOT } from '../architecture/sources.ts';
import { EDITS } from '../released/edits.ts';

/** Makes each edit in a copy of the tree, generates documents and pacts again, and runs the checks there, which takes minutes. */
const copy = mkdtempSync(join(tmpdir(), 'tree-'));
const git = (...args: readonly string[]) =>
  execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', '-c', 'commit.gpgsign=false', ...args], { cwd: copy });
const commit = (): void => {
  git('add', '-A');
  git('commit', '-qm', 'Keep the tree');
};

const run = (...args: readonly string[]) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['deploy/launch.mjs', ...args], {
    cwd: copy,
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  });
  return { ok: status === 0, text: `${stdout}${stderr}` };
};
const must = (...args: readonly string[]): void => {
  const { ok, text } = run(...args);
  if (!ok) throw new Error(`${args.join(' ')} failed in the copy:\n${text.slice(-3000)}`);
};

const prepare = (): void => {
  const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '-z'], { cwd: ROOT, encoding: 'utf8' });
  for (const path of files.split('\0').filter((one) => one !== '')) {
    mkdirSync(dirname(join(copy, path)), { recursive: true });
    cpSync(join(ROOT, path), join(copy, path));
  }
  // Hard links: the packages of the workspace are links to folders beside it, and lead into the copy.
  execFileSync('cp', ['-al', join(ROOT, 'node_modules'), join(copy, 'node_modules')]);
  rmSync(join(copy, 'node_modules/.cache'), { recursive: true, force: true });
  git('init', '-q');
  commit();
  if (globSync('contracts/released/[0-9]*', { cwd: copy }).length > 0) return;
  must('test/scripts/release.ts');
  commit();
};

const make = (changes: (typeof EDITS)[number]['changes']): void => {
  for (const [files, from, to] of changes) {
    const found = globSync(files, { cwd: copy, exclude: ['**/node_modules/**'] })
      .map((file) => join(copy, file))
      .filter((path) => readFileSync(path, 'utf8').includes(from));
    if (found.length === 0) throw new Error(`nothing says ${from} in ${files}`);
    for (const path of found) writeFileSync(path, readFileSync(path, 'utf8').replaceAll(from, to));
  }
};

const judge = ({ changes, says, byPacts }: (typeof EDITS)[number]): string | null => {
  try {
    make(changes);
    must('test/scripts/openapi.ts');
    must('contracts/scripts/asyncapi.ts');
    const { ok, text } = run(byPacts ? 'test/contract/main.ts' : 'test/scripts/breaking.ts');
    if (says === null) return ok ? null : `is refused:\n${text.slice(-3000)}`;
    if (ok) return 'passes';
    return text.includes(says) ? null : `is refused with other words than "${says}":\n${text.slice(0, 3000)}`;
  } catch (error) {
    return String(error);
  } finally {
    git('checkout', '-q', '.');
    git('clean', '-qfd');
  }
};

try {
  prepare();
  for (const edit of EDITS) {
    const fault = judge(edit);
    console.log(
      `${fault === null ? 'ok' : 'FAILED'}  ${edit.name}${edit.byPacts ? ' (pacts)' : ''}: ${edit.says === null ? 'passes' : 'is refused'}`,
    );
    if (fault === null) continue;
    console.error(fault);
    process.exitCode = 1;
  }
} finally {
  rmSync(copy, { recursive: true, force: true });
}
