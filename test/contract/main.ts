import { execFileSync, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { ROOT } from '../architecture/sources.ts';
import { clearWritten, keepWritten } from './pact-files.ts';

/** Consumers write the pacts afresh, then every provider is held to them. With `--check` the pacts must be those that are committed. */
const jest = (pattern: string): void => {
  const { status } = spawnSync(
    process.execPath,
    [
      '--experimental-vm-modules',
      '--disable-warning=ExperimentalWarning',
      join(ROOT, 'node_modules/jest/bin/jest.js'),
      '--config',
      join(import.meta.dirname, 'jest.config.mjs'),
      '--runInBand',
      pattern,
    ],
    { cwd: ROOT, stdio: 'inherit', env: { ...process.env, PACT_DO_NOT_TRACK: 'true' } },
  );
  if (status !== 0) process.exit(status ?? 1);
};

clearWritten();
jest(String.raw`test/contract/.*\.(test|consumer)\.ts$`);
keepWritten();
if (process.argv.includes('--check')) {
  const changed = execFileSync('git', ['status', '--porcelain', '--', 'contracts/pacts'], { cwd: ROOT, encoding: 'utf8' });
  if (changed !== '') {
    console.error(`The pacts changed; commit them.\n${changed}`);
    process.exit(1);
  }
}
jest(String.raw`test/contract/.*\.provider\.ts$`);
