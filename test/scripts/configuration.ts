import { readFileSync, writeFileSync } from 'node:fs';
import { type Part, partsOf } from '../../deploy/services/src/deployment.ts';

/** Writes the tables of docs/configuration.md; with `--check` says whether they are not what would be written. */
const FILE = new URL('../../docs/configuration.md', import.meta.url);
const MARKED = /(?<=<!-- generated: npm run configuration -->\n).*(?=<!-- end -->)/s;

type Variable = Part['variables'][number];

const row = ({ name, isSecret, isRequired, defaultText, description }: Variable): string => {
  const unset = isRequired ? 'required' : defaultText === null ? '' : `\`${defaultText}\``;
  return `| \`${name}\` | ${isSecret ? 'secret' : ''} | ${unset} | ${description} |`;
};
const table = (title: string, variables: readonly Variable[]): string =>
  `### ${title}\n\n| variable | | when unset | what it says |\n|---|---|---|---|\n${variables.map(row).join('\n')}\n`;

const parts = partsOf();
const services = parts.filter(({ kind }) => kind === 'service');
/** Of every service, in the same words. */
const common = (services[0]?.variables ?? []).filter((one) =>
  services.every(({ variables }) => variables.some(({ name, description }) => name === one.name && description === one.description)),
);
const commonNames = new Set(common.map(({ name }) => name));

const tables = [
  table('Every service', common),
  ...parts.map(({ name, kind, variables }) => {
    const own = kind === 'service' ? variables.filter((one) => !commonNames.has(one.name)) : variables;
    return table(kind === 'job' ? `The job ${name}` : name, own);
  }),
].join('\n');

const page = readFileSync(FILE, 'utf8');
const written = page.replace(MARKED, () => `\n${tables}\n`);
if (process.argv.includes('--check')) {
  if (written !== page) {
    console.error('docs/configuration.md is stale: npm run configuration');
    process.exitCode = 1;
  }
} else writeFileSync(FILE, written);
