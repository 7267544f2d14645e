import { type Break, breaksBetween, readersIn, report, withoutExcepted } from '../released/compare.ts';
import { breaksOfSamples, samplesOf } from '../released/families.ts';
import { historyFaults } from '../released/history.ts';
import { ownerFaults } from '../released/owners.ts';
import { currentDocuments, documentsOf, exceptions, latestRelease, runningReleases } from '../released/releases.ts';

/** Compares what the tree says and writes with each release that may still run, and says what breaks and who relies on it. */
const revision = currentDocuments();
const today = new Date().toISOString().slice(0, 10);
const breaksOf = async (release: number): Promise<readonly Break[]> => {
  const [documents, samples] = await Promise.all([
    breaksBetween({ base: documentsOf(release), readers: readersIn(release), revision, today }),
    breaksOfSamples(samplesOf(release)),
  ]);
  return [...documents, ...samples];
};

const found = await Promise.all(runningReleases().map(async (release) => ({ release, breaks: await breaksOf(release) })));
const all = found.flatMap(({ breaks }) => breaks);
const { left, refused } = withoutExcepted(all, exceptions(), latestRelease() + 1);
const lines = [
  ...found.flatMap(({ release, breaks }) =>
    report(
      breaks.filter((one) => left.includes(one)),
      release,
    ),
  ),
  ...refused,
  ...ownerFaults(revision.services),
  ...historyFaults(),
];
if (lines.length > 0) {
  console.error(lines.join('\n'));
  process.exitCode = 1;
}
