import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, readFileSync } from 'node:fs';

const FOLDER = new URL('../', import.meta.url).pathname;
const LOCK = new URL('../package-lock.json', import.meta.url);
/** The lock from which the packages were installed last. */
const INSTALLED = new URL('../node_modules/.installed-lock.json', import.meta.url);

const isInstalled = (): boolean => existsSync(INSTALLED) && readFileSync(INSTALLED).equals(readFileSync(LOCK));

/** Installs what only the bench compares with, from its own lock, when it is not there or the lock has changed. */
export const installBenchPackages = (): void => {
  if (isInstalled()) return;
  const { status, stderr } = spawnSync(
    'npm',
    ['ci', '--prefix', FOLDER, '--workspaces=false', '--ignore-scripts', '--no-audit', '--no-fund'],
    {
      encoding: 'utf8',
    },
  );
  if (status !== 0) throw new Error(`the packages of the bench could not be installed: ${stderr}`);
  copyFileSync(LOCK, INSTALLED);
};
