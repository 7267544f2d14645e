import { decoded, type LinkFault, type LinkLocation, type LinkText, parameter, type RebuiltLink, splitLocation } from './link-text.ts';
import { gotoPathLink, gotoRoomLink, meetLink, webexLink, zoomLink } from './platform-links.ts';
import { teamsLink } from './teams-link.ts';

const PLATFORM_NAMES = {
  google_meet: 'Google Meet',
  microsoft_teams: 'Microsoft Teams',
  zoom: 'Zoom',
  webex: 'Webex',
  goto_meeting: 'GoTo',
} as const;
export type MeetingPlatform = keyof typeof PLATFORM_NAMES;
// The keys of a literal, which `Object.keys` tells as text.
export const MEETING_PLATFORMS = Object.keys(PLATFORM_NAMES) as readonly MeetingPlatform[];

/** `url` may hold a passcode; `key` holds none. */
export interface MeetingLink extends RebuiltLink {
  readonly platform: MeetingPlatform;
}

/** What to tell the caller; it holds nothing of the text that the caller sent. */
interface RefusedLink {
  readonly refused: string;
}

type Rebuild = (link: LinkText) => RebuiltLink | LinkFault;
/** A page whose parameter of one of these names is the link. */
interface Wrapper {
  readonly path: RegExp;
  readonly parameters: readonly string[];
}
type KnownHost = { readonly platform: MeetingPlatform; readonly rebuild: Rebuild } | Wrapper;

const googleMeet: KnownHost = { platform: 'google_meet', rebuild: meetLink };
const teams: KnownHost = { platform: 'microsoft_teams', rebuild: teamsLink };
const zoom: KnownHost = { platform: 'zoom', rebuild: zoomLink };
const webex: KnownHost = { platform: 'webex', rebuild: webexLink };
const gotoRoom: KnownHost = { platform: 'goto_meeting', rebuild: gotoRoomLink };
const gotoPath: KnownHost = { platform: 'goto_meeting', rebuild: gotoPathLink };
/** `ap` is in links of mails that name the application. */
const safeLinks: Wrapper = { path: /^(?:ap\/[a-z\d-]+)?$/, parameters: ['url'] };
const googleRedirect: Wrapper = { path: /^url$/, parameters: ['q', 'url'] };

const HOSTS = new Map<string, KnownHost>([
  ['meet.google.com', googleMeet],
  ['teams.microsoft.com', teams],
  ['teams.live.com', teams],
  ['teams.cloud.microsoft', teams],
  ['gov.teams.microsoft.us', teams],
  ['dod.teams.microsoft.us', teams],
  ['teams.microsoftonline.cn', teams],
  ['zoom.us', zoom],
  ['zoom.com', zoom],
  ['zoomgov.com', zoom],
  ['zoom-x.de', zoom],
  ['zoom.com.cn', zoom],
  ['meet.goto.com', gotoRoom],
  ['gotomeet.me', gotoRoom],
  ['www.gotomeet.me', gotoRoom],
  ['app.goto.com', gotoPath],
  ['gotomeeting.com', gotoPath],
  ['www.gotomeeting.com', gotoPath],
  ['global.gotomeeting.com', gotoPath],
  ['app.gotomeeting.com', gotoPath],
  ['google.com', googleRedirect],
  ['www.google.com', googleRedirect],
]);
/** Every host below these, with the dot that keeps others out. */
const SUFFIXES: readonly (readonly [string, KnownHost])[] = [
  ['.zoom.us', zoom],
  ['.zoom.com', zoom],
  ['.webex.com', webex],
  ['.safelinks.protection.outlook.com', safeLinks],
  ['.zoomgov.com', zoom],
  ['.zoom-x.de', zoom],
  ['.zoom.com.cn', zoom],
  ['.safelinks.protection.office365.us', safeLinks],
  ['.safelinks.protection.partner.outlook.cn', safeLinks],
];

const MAX_WRAPPERS = 2;
const MAX_HOST_CHARACTERS = 253;
const VISIBLE_ASCII = /^[\x21-\x7e]{1,2048}$/;
const HTTPS = /^https:\/\//i;
/** A port only behind a scheme: without one a URL parser takes the host for the scheme. */
const AUTHORITY = /^(?:https:\/\/([a-z\d.-]+)(?::443)?|([a-z\d.-]+))(?=\/|$)/i;
const HOST_LABELS = /^(?:[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?\.)+[a-z]+$/;

const named = (reason: string): RefusedLink => ({ refused: `meeting_url: ${reason}` });
const UNREADABLE = named('must have 1 to 2048 characters, all of them visible ASCII characters without spaces.');
const NOT_HTTPS = named('must be one link that starts with https://.');
const OTHER_HOST = named('must be a link of Google Meet, Microsoft Teams, Zoom, Webex or GoTo.');
const WRAPPED_TOO_OFTEN = named(`must not be wrapped more than ${MAX_WRAPPERS} times. Open the link and copy the address of the meeting.`);
const NO_MEETING = Object.fromEntries(
  Object.entries(PLATFORM_NAMES).map(([platform, name]) => [
    platform,
    named(`must be the complete link of a meeting. This ${name} link is of another page, or incomplete.`),
  ]),
) as Readonly<Record<MeetingPlatform, RefusedLink>>; // The entries are those of PLATFORM_NAMES.
const BROKEN_PASSCODE = named('must have an undamaged passcode. Copy the link from the invitation again.');

const knownHost = (host: string): readonly [string, KnownHost] | null => {
  const exact = HOSTS.get(host);
  if (exact !== undefined) return [host, exact];
  const below = SUFFIXES.find(([suffix]) => host.endsWith(suffix));
  // A label in punycode stands for other characters, and not every parser reads it.
  if (below === undefined || host.length > MAX_HOST_CHARACTERS || host.includes('xn--') || !HOST_LABELS.test(host)) return null;
  return [below[0].slice(1), below[1]];
};

const parse = (text: string, wrappers: number): MeetingLink | RefusedLink => {
  if (!VISIBLE_ASCII.test(text)) return UNREADABLE;
  const parts = AUTHORITY.exec(text);
  if (parts === null) return HTTPS.test(text) ? OTHER_HOST : NOT_HTTPS;
  const host = (parts[1] ?? parts[2] ?? '').toLowerCase();
  const known = knownHost(host);
  if (known === null) return OTHER_HOST;
  const [domain, page] = known;
  const { path, query, fragment } = splitLocation(text.slice(parts[0].length));
  if ('parameters' in page) return unwrapped(page, { path, query }, wrappers);
  const rebuilt = page.rebuild({ host, domain, path, query, fragment });
  if (rebuilt === 'page') return NO_MEETING[page.platform];
  if (rebuilt === 'passcode') return BROKEN_PASSCODE;
  return { platform: page.platform, url: rebuilt.url, key: rebuilt.key };
};

const unwrapped = (
  wrapper: Wrapper,
  { path, query }: Pick<LinkLocation, 'path' | 'query'>,
  wrappers: number,
): MeetingLink | RefusedLink => {
  // Links of search results have an empty `q` beside their `url`.
  const raw = wrapper.parameters.map((name) => parameter(query, name)).find((value) => value !== null && value !== '');
  const target = typeof raw === 'string' && wrapper.path.test(path) ? decoded(raw) : null;
  if (target === null) return OTHER_HOST;
  return wrappers === MAX_WRAPPERS ? WRAPPED_TOO_OFTEN : parse(target, wrappers + 1);
};

/**
 * Reads a link as text alone, and rebuilds it from what it captured: URL parsers map and drop characters, and disagree about hosts. It reads what it
 * rebuilt as the same link.
 */
export const parseMeetingLink = (text: string): MeetingLink | RefusedLink => parse(text, 0);
