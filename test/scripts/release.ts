import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../architecture/sources.ts';
import { RECORDED } from '../contract/recording.ts';
import { changelogOf, withPart } from '../released/changelog.ts';
import { changesBetween } from '../released/changes.ts';
import { makeSamples } from '../released/families.ts';
import { currentDocuments, documentsOf, folderOf, latestRelease, RELEASED, runningReleases, written } from '../released/releases.ts';

/** Keeps the interfaces of the tree as the next release: documents, pacts, answers of providers, samples, and its part of CHANGELOG.md. */
const launch = (...args: readonly string[]): void => {
  const { status } = spawnSync(process.execPath, [join(ROOT, 'deploy/launch.mjs'), ...args], {
    cwd: ROOT,
    stdio: 'inherit',
    env: { ...process.env, RECORD_ANSWERS: '1' },
  });
  if (status !== 0) throw new Error(`${args.join(' ')} failed: nothing was released`);
};

const running = runningReleases();
const before = latestRelease();
const release = before + 1;
const kept = execFileSync('git', ['status', '--porcelain', '--', 'contracts/released'], { cwd: ROOT, encoding: 'utf8' });
if (kept.split('\n').some((line) => /contracts\/released\/\d+\//.test(line)))
  throw new Error(`Commit release ${before} before you make the next one.`);

launch(join(ROOT, 'test/scripts/breaking.ts'));
rmSync(RECORDED, { recursive: true, force: true });
launch(join(ROOT, 'test/contract/main.ts'), '--check');

const documents = currentDocuments();
const folder = `${folderOf(release)}.making`;
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
writeFileSync(join(folder, 'openapi.json'), written(documents.merged));
for (const [from, to] of [
  [join(ROOT, 'contracts/openapi'), 'openapi'],
  [join(ROOT, 'contracts/asyncapi.json'), 'asyncapi.json'],
  [join(ROOT, 'contracts/pacts'), 'pacts'],
  [RECORDED, 'answers'],
] as const)
  cpSync(from, join(folder, to), { recursive: true });
writeFileSync(join(folder, 'samples.json'), written(await makeSamples()));

const today = new Date().toISOString().slice(0, 10);
const earlier = before === 0 ? null : documentsOf(before);
const sections =
  earlier === null
    ? []
    : await Promise.all(
        [
          { title: 'Public API', pair: { base: earlier.merged, revision: documents.merged, today } },
          { title: 'Events', pair: { base: earlier.events, revision: documents.events, today } },
        ].map(async ({ title, pair }) => ({ title, pair, changes: await changesBetween(pair.base, pair.revision) })),
      );
const changelog = join(ROOT, 'CHANGELOG.md');
const part = changelogOf({ release, on: today, sections });
// The folder appears whole, and last but for the list of what runs: a release that was interrupted is made again.
writeFileSync(changelog, withPart(existsSync(changelog) ? readFileSync(changelog, 'utf8') : null, part));
renameSync(folder, folderOf(release));
writeFileSync(join(RELEASED, 'running.json'), written({ running: [...running, release] }));
if (!existsSync(join(RELEASED, 'exceptions.json'))) writeFileSync(join(RELEASED, 'exceptions.json'), written({ exceptions: [] }));
console.log(
  `Release ${release} is in contracts/released/${release}. Commit it: the tree of that commit is what \`npm run mixed\` runs as release ${release}. Take a release out of running.json when none of its processes runs any more.`,
);
