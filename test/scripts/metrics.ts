import { readFileSync, writeFileSync } from 'node:fs';
import { type Figure, runningFigures } from '../observability/running.ts';

/** Writes the tables of docs/metrics.md from what running processes show; with `--check` says whether they are not what would be written. */
const FILE = new URL('../../docs/metrics.md', import.meta.url);
const MARKED = /(?<=<!-- generated: npm run metrics -->\n).*(?=<!-- end -->)/s;

const isOfNode = ({ name }: Figure): boolean => /^nodejs_|^process_(?!ready)/.test(name);
const row = ({ name, type, labels, help }: Figure): string => {
  const own = labels.filter((label) => label !== 'service').map((label) => `\`${label}\``);
  return `| \`${name}\` | ${type} | ${own.join(', ')} | ${help} |`;
};
const table = (title: string, figures: readonly Figure[]): string =>
  `### ${title}\n\n| figure | kind | labels | what it says |\n|---|---|---|---|\n${figures.map(row).join('\n')}\n`;

const { figures } = await runningFigures();
const own = figures.filter((figure) => !isOfNode(figure));
const processes = new Set(figures.flatMap(({ services }) => services));
const groups = Map.groupBy(own, ({ services }) => (services.length === processes.size ? 'Every process' : services.join(', ')));
const services = [...processes].filter((name) => name !== 'gateway');
const titleOf = (group: string): string => (group === services.join(', ') ? 'Every service' : group);
const width = (figure: Figure | undefined): number => figure?.services.length ?? 0;
const tables = [
  ...[...groups]
    .sort(([a, [first]], [b, [other]]) => width(other) - width(first) || a.localeCompare(b))
    .map(([group, list]) => table(titleOf(group), list)),
  table('Of Node itself, by every process', figures.filter(isOfNode)),
].join('\n');

const page = readFileSync(FILE, 'utf8');
const written = page.replace(MARKED, () => `\n${tables}\n`);
if (process.argv.includes('--check')) {
  if (written !== page) {
    console.error('docs/metrics.md is stale: npm run metrics');
    process.exitCode = 1;
  }
} else writeFileSync(FILE, written);
process.exit();
