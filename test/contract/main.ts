import { execFileSync, spawnSync } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { z } from 'zod';
import { ROOT } from '../architecture/sources.ts';
import { BREACHES, clearWritten, KEPT, keepWritten, keptNames, PactFile, REPORTS } from './pact-files.ts';
import { relianceChanges } from './reliance.ts';

/** Consumers write the pacts afresh, then every provider is held to them. With `--check` the pacts must be those that are committed. */
const Results = z.object({
  testResults: z.array(
    z.object({
      name: z.string(),
      message: z.string(),
      assertionResults: z.array(z.object({ fullName: z.string(), status: z.string(), failureMessages: z.array(z.string()) })),
    }),
  ),
});

const firstLine = (text: string): string =>
  text
    .split('\n')
    .map((line) => line.trim())
    .find((line) => line !== '') ?? '';

/** Tests that failed for another reason than a broken pact. */
const failedTests = (report: string): readonly string[] => {
  if (!existsSync(report)) return ['the tests did not end'];
  const { testResults } = Results.parse(JSON.parse(readFileSync(report, 'utf8')));
  return testResults.flatMap(({ name, message, assertionResults }) => {
    const failed = assertionResults.filter(({ status }) => status === 'failed');
    const said = failed.map(({ fullName, failureMessages }) => `${fullName}: ${firstLine(failureMessages.join('\n'))}`);
    return (said.length > 0 || message === '' ? said : [firstLine(message)]).map((line) => `${relative(ROOT, name)}: ${line}`);
  });
};

/** What failed, and where all is that was printed. */
const failuresOf = (name: 'consumers' | 'providers', pattern: string): readonly string[] => {
  const [output, report] = [join(REPORTS, `${name}.log`), join(REPORTS, `${name}.json`)];
  const file = openSync(output, 'w');
  const { status } = spawnSync(
    process.execPath,
    [
      '--experimental-vm-modules',
      '--disable-warning=ExperimentalWarning',
      join(ROOT, 'node_modules/jest/bin/jest.js'),
      ...['--config', join(import.meta.dirname, 'jest.config.mjs'), '--runInBand', '--json', `--outputFile=${report}`],
      pattern,
    ],
    { cwd: ROOT, stdio: ['ignore', file, file], env: { ...process.env, PACT_DO_NOT_TRACK: 'true' } },
  );
  closeSync(file);
  if (status === 0) return [];
  const breaches = existsSync(BREACHES) ? readFileSync(BREACHES, 'utf8').trimEnd().split('\n') : [];
  return [...(breaches.length > 0 ? breaches : failedTests(report)), `All that was printed is in ${relative(ROOT, output)}.`];
};

/** Null when there is none. */
const committed = (name: string): PactFile | null => {
  try {
    const text = execFileSync('git', ['show', `HEAD:contracts/pacts/${name}`], { cwd: ROOT, encoding: 'utf8', stdio: 'pipe' });
    return PactFile.parse(JSON.parse(text));
  } catch {
    return null;
  }
};
const kept = (name: string): PactFile | null => {
  const path = join(KEPT, name);
  return existsSync(path) ? PactFile.parse(JSON.parse(readFileSync(path, 'utf8'))) : null;
};

/** Who relies on what since the last commit. */
const changedPacts = (): readonly string[] => {
  const changed = execFileSync('git', ['status', '--porcelain', '-uall', '--', 'contracts/pacts'], { cwd: ROOT, encoding: 'utf8' });
  const names = changed.split('\n').flatMap((line) => /([\w-]+\.json)$/.exec(line)?.[1] ?? []);
  return names.flatMap((name) => {
    const said = relianceChanges(committed(name), kept(name));
    return said.length > 0 ? said : [`contracts/pacts/${name} is written in another way`];
  });
};

const tell = (lines: readonly string[]): void => {
  if (lines.length > 0) process.exitCode = 1;
  for (const line of lines) console.error(line);
};

rmSync(REPORTS, { recursive: true, force: true });
mkdirSync(REPORTS, { recursive: true });
clearWritten();
const unwritten = failuresOf('consumers', String.raw`test/contract/.*\.(test|consumer)\.ts$`);
tell(unwritten);
if (unwritten.length === 0) {
  keepWritten();
  const changes = process.argv.includes('--check') ? changedPacts() : [];
  tell(changes.length > 0 ? [...changes, 'Commit contracts/pacts if that is meant.'] : []);
  const broken = failuresOf('providers', String.raw`test/contract/.*\.provider\.ts$`);
  tell(broken);
  if (broken.length === 0) console.log(`The providers keep all ${keptNames().length} pacts.`);
}
