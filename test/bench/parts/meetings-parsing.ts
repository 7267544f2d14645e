import { parseMeetingLink } from '@bubbles/meetings-bot-gateway/domain/meeting-link.ts';
import { testData } from '@bubbles/testing/test-data.ts';
import type { Outcome } from '../harness/part.ts';
import { median, pairedRatio } from '../harness/statistics.ts';

const PASSES_PER_ROUND = 300;
const SUBJECTS = ['new URL and a host table', 'parseMeetingLink'] as const;
type Subject = (typeof SUBJECTS)[number];

// The file's shape is fixed beside it.
const handed = (JSON.parse(testData('meeting-links.json')) as readonly { readonly input: unknown }[]).flatMap(({ input }) =>
  typeof input === 'string' ? [input] : [],
);

const HOSTS = new Set([
  'meet.google.com',
  'teams.microsoft.com',
  'teams.live.com',
  'gov.teams.microsoft.us',
  'dod.teams.microsoft.us',
  'teams.cloud.microsoft',
  'zoom.us',
  'zoomgov.com',
  'meet.goto.com',
  'app.goto.com',
  'www.gotomeet.me',
  'www.gotomeeting.com',
]);
const SUFFIXES = ['.zoom.us', '.zoom.com', '.zoomgov.com', '.zoom-x.de', '.webex.com', '.safelinks.protection.outlook.com'];

/** The least that could be done: it takes 32 of the handed hostile links. */
const leastParser = (text: string): string | null => {
  try {
    const { protocol, hostname, href } = new URL(text);
    const isKnown = HOSTS.has(hostname) || SUFFIXES.some((suffix) => hostname.endsWith(suffix));
    return protocol === 'https:' && isKnown ? href : null;
  } catch {
    // An unreadable link is refused like one of another host.
    return null;
  }
};

const PARSERS: Readonly<Record<Subject, (text: string) => unknown>> = {
  'new URL and a host table': leastParser,
  parseMeetingLink,
};

const nanosecondsPerLink = (subject: Subject): number => {
  const parse = PARSERS[subject];
  const began = performance.now();
  for (let pass = 0; pass < PASSES_PER_ROUND; pass += 1) for (const link of handed) parse(link);
  return ((performance.now() - began) * 1_000_000) / (PASSES_PER_ROUND * handed.length);
};

/** All handed links, accepted and refused ones, again and again. */
export const parsing = (quick: boolean): Outcome => {
  const rounds = quick ? 9 : 51;
  const measured: Record<Subject, number[]> = { 'new URL and a host table': [], parseMeetingLink: [] };
  for (const subject of SUBJECTS) nanosecondsPerLink(subject);
  for (let round = 0; round < rounds; round += 1) for (const subject of SUBJECTS) measured[subject].push(nanosecondsPerLink(subject));
  const least = measured['new URL and a host table'];
  const speed = pairedRatio(least, measured.parseMeetingLink);
  return {
    tables: [
      {
        title: `Parsing ${handed.length} links`,
        columns: ['with', 'ns a link', 'x new URL'],
        rows: SUBJECTS.map((subject) => [subject, median(measured[subject]), pairedRatio(measured[subject], least)]),
      },
    ],
    verdicts: [
      { target: 'Meetings', what: 'links a second: parser / new URL with a host table', figure: speed, limit: 0.4, wanted: 'least' },
    ],
    notes: [],
  };
};
