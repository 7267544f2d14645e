/**
 * node deploy/docker/part.ts <workspace> <folder>: copies what one image holds of the repository, in two portions: `manifests` is what `npm ci` reads,
 * `sources` is what runs. It imports nothing that has to be installed.
 */
import { cpSync, existsSync, globSync, mkdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

interface Manifest {
  readonly name: string;
  readonly dependencies?: Readonly<Record<string, string>>;
}

const ROOT = join(import.meta.dirname, '..', '..');
const ROOT_FILES = ['package.json', 'package-lock.json', '.npmrc', 'LICENSE'];
/** Test files of a workspace, which images leave out. */
const TESTS = /^(?:test|pacts)$|[.]test[.]ts$|[.]contract[.]ts$/;

const manifestOf = (workspace: string): Manifest => JSON.parse(readFileSync(join(ROOT, workspace, 'package.json'), 'utf8'));

/** The folder and those of the workspaces that it depends on, directly or not. */
const workspacesOf = (target: string): ReadonlySet<string> => {
  const { workspaces }: { readonly workspaces: readonly string[] } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const folders = globSync(
    workspaces.map((pattern) => `${pattern}/package.json`),
    { cwd: ROOT },
  ).map(dirname);
  const byName = new Map(folders.map((folder) => [manifestOf(folder).name, folder]));
  const found = new Set<string>();
  const add = (folder: string) => {
    if (found.has(folder)) return;
    found.add(folder);
    for (const name of Object.keys(manifestOf(folder).dependencies ?? {})) {
      const needed = byName.get(name);
      if (needed !== undefined) add(needed);
    }
  };
  add(target);
  return found;
};

const copy = (path: string, to: string) => cpSync(join(ROOT, path), join(to, path), { recursive: true, filter: isWanted });
const isWanted = (path: string): boolean => basename(path) !== 'node_modules' && !TESTS.test(basename(path));

const [target = '', folder = ''] = process.argv.slice(2);
if (folder === '' || !existsSync(join(ROOT, target, 'src', 'main.ts'))) {
  process.stderr.write('usage: node deploy/docker/part.ts <folder of a service or job> <folder to copy to>\n');
  process.exit(2);
}
const [manifests, sources] = [join(folder, 'manifests'), join(folder, 'sources')];
for (const made of [manifests, sources]) mkdirSync(made, { recursive: true });
for (const file of ROOT_FILES) copy(file, manifests);
for (const workspace of workspacesOf(target)) {
  copy(join(workspace, 'package.json'), manifests);
  copy(workspace, sources);
}
