import type { Change } from './changes.ts';
import { type Pair, spotOf } from './spots.ts';

const HEADINGS = ['Added', 'Changed', 'Deprecated', 'Removed'] as const;
type Heading = (typeof HEADINGS)[number];

/** Nodes that readers know by name; what lies below a new one is not told again. */
const TOLD = new Set(['PathItem', 'Operation', 'Parameter', 'Response', 'Schema', 'Channel', 'SecurityScheme', 'Header']);
const CHANGES_OF_MEANING = new Set([
  'default',
  'maximum',
  'minimum',
  'maxLength',
  'minLength',
  'maxItems',
  'minItems',
  'pattern',
  'format',
  'type',
]);

const headingOf = ({ kind, typeName, property = '', revision }: Change): Heading | null => {
  if (property === 'deprecated') return revision?.value === true ? 'Deprecated' : null;
  if (property === 'enum' || CHANGES_OF_MEANING.has(property)) return 'Changed';
  if (kind === 'modified' || !TOLD.has(typeName)) return null;
  return kind === 'added' ? 'Added' : 'Removed';
};

const entryOf = (change: Change, pair: Pair): string => {
  const { place, field } = spotOf(change, pair);
  const { property, base, revision } = change;
  const what =
    property === undefined || property === 'deprecated'
      ? ''
      : `: ${property} ${JSON.stringify(base?.value)} is now ${JSON.stringify(revision?.value)}`;
  return `\`${place}\`${field === '' ? '' : `: ${field}`}${what}`;
};

interface Section {
  readonly title: string;
  readonly changes: readonly Change[];
  readonly pair: Pair;
}

interface Released {
  readonly release: number;
  readonly on: string;
  readonly sections: readonly Section[];
}

/** The part of one release, in the form of Keep a Changelog; what changed is read off the documents of this release and the one before. */
export const changelogOf = ({ release, on, sections }: Released): string => {
  const lines = HEADINGS.flatMap((heading) => {
    const entries = sections.flatMap(({ title, changes, pair }) => {
      const told = changes.filter((change) => headingOf(change) === heading).map((change) => `- ${title}: ${entryOf(change, pair)}`);
      return [...new Set(told)];
    });
    return entries.length === 0 ? [] : [`### ${heading}`, '', ...entries, ''];
  });
  const none = sections.length === 0 ? ['The first release whose interfaces are kept.', ''] : ['No interface changed.', ''];
  return [`## [${release}] - ${on}`, '', ...(lines.length === 0 ? none : lines)].join('\n');
};

const HEAD = `# Changelog

What changed for clients, receivers and services, by release; the newest first. The form is that of [Keep a Changelog](https://keepachangelog.com/en/1.1.0/).
\`npm run release\` writes it from the documents in \`contracts/released\`.
`;

/** Before the parts of earlier releases. */
export const withPart = (changelog: string | null, part: string): string => {
  const before = changelog?.slice(changelog.indexOf('\n## [') + 1) ?? '';
  return `${HEAD}\n${part}\n${before.startsWith('## [') ? before : ''}`.trimEnd().concat('\n');
};
