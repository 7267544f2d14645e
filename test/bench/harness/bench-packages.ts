import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

const FOLDER = new URL('../', import.meta.url).pathname;

/** Installs what only the bench compares with, from its own lock, when it is not there. */
export const installBenchPackages = (): void => {
  if (existsSync(new URL('../node_modules/.package-lock.json', import.meta.url))) return;
  const { status, stderr } = spawnSync(
    'npm',
    ['ci', '--prefix', FOLDER, '--workspaces=false', '--ignore-scripts', '--no-audit', '--no-fund'],
    {
      encoding: 'utf8',
    },
  );
  if (status !== 0) throw new Error(`the packages of the bench could not be installed: ${stderr}`);
};
