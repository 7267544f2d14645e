import {
  decoded,
  type LinkFault,
  type LinkLocation,
  type LinkText,
  parameter,
  type RebuiltLink,
  secretsQuery,
  splitLocation,
} from './link-text.ts';

const LIVE_HOST = 'teams.live.com';
const WORK_HOST = 'teams.microsoft.com';
/** The tenant of all personal accounts. */
const PERSONAL_TENANT = '9188040d-6c67-4c5b-b112-36a304b66dad';

const THREAD = /^19:[\w=-]{1,200}@(?:thread\.(?:v2|tacv2|skype)|unq\.gbl\.spaces)$/;
const MESSAGE = /^\d{1,20}$/;
const SHORT_ID = /^\d{9,18}$/;
const GUID = /^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/;
/** JSON of one level without escapes: all that a context or the coordinates of a meeting are. */
const FLAT_OBJECT = /^\{(?:\s*"\w+"\s*:\s*(?:"[^"\\]*"|[\w.]+)\s*(?:,|(?=\})))+\}$/;
const MEMBERS = /"(\w+)"\s*:\s*"([^"\\]*)"/g;

/** The members that are strings, their names in lower case; null when it is not such an object. */
const stringMembers = (json: string): ReadonlyMap<string, string> | null => {
  if (!FLAT_OBJECT.test(json)) return null;
  return new Map(Array.from(json.matchAll(MEMBERS), ([, name = '', value = '']) => [name.toLowerCase(), value]));
};

/** Undefined when there is none, null when it is not a GUID. */
const guid = (text: string | undefined): string | null | undefined => {
  const lower = text?.toLowerCase();
  return lower === undefined || GUID.test(lower) ? lower : null;
};

const contextQuery = (tid: string | null | undefined, oid: string | null | undefined): string | null => {
  if (!tid || oid === null) return null;
  const organizer = oid === undefined ? '' : `%2C%22Oid%22%3A%22${oid}%22`;
  return `?context=%7B%22Tid%22%3A%22${tid}%22${organizer}%7D`;
};

/** The context may be missing: then the tenant is found by the thread alone. */
const contextOf = (query: string): string | null => {
  const raw = parameter(query, 'context');
  if (raw === null) return '';
  const json = decoded(raw.replaceAll('+', ' '));
  const members = json === null ? null : stringMembers(json);
  return members && contextQuery(guid(members.get('tid')), guid(members.get('oid')));
};

const longLink = (host: string, [thread, message]: readonly [string, string], context: string | null): RebuiltLink | LinkFault => {
  if (context === null || !THREAD.test(thread) || !MESSAGE.test(message)) return 'page';
  const path = `${thread.replace(':', '%3A').replace('@', '%40')}/${message}`;
  return { url: `https://${host}/l/meetup-join/${path}${context}`, key: `microsoft_teams:${thread}/${message}` };
};

const shortLink = (host: string, id: string, query: string): RebuiltLink | LinkFault => {
  if (!SHORT_ID.test(id)) return 'page';
  const passcode = secretsQuery(query, ['p']);
  if (passcode === null) return 'passcode';
  return { url: `https://${host}/meet/${id}${passcode}`, key: `microsoft_teams:${host === LIVE_HOST ? 'live' : 'meet'}:${id}` };
};

/** The page of guests has the meeting in base64. It runs below `teams.live.com` for meetings of organizations too. */
const guestLink = (host: string, query: string): RebuiltLink | LinkFault => {
  const coordinates = decoded(parameter(query, 'coords') ?? '');
  const members = coordinates ? stringMembers(Buffer.from(coordinates, 'base64').toString('latin1')) : null;
  if (members === null) return 'page';
  const code = members.get('meetingcode');
  if (code) return shortLink(host, code, `p=${encodeURIComponent(members.get('passcode') ?? '')}`);
  const tid = guid(members.get('tenantid'));
  const context = contextQuery(tid, guid(members.get('organizerid')));
  const ownHost = host === LIVE_HOST && tid !== PERSONAL_TENANT ? WORK_HOST : host;
  return longLink(ownHost, [members.get('conversationid') ?? '', members.get('messageid') ?? '0'], context);
};

/** The web client has its route in the fragment. */
const clientRoute = (location: LinkLocation): LinkLocation | null => {
  const [first, ...more] = location.segments;
  return more.length === 0 && (first === '_' || first === 'v2') ? splitLocation(location.fragment) : location;
};

/** The launcher has the route in `url`; where that is not encoded, the route's fragment is the page's. */
const launcherRoute = ({ query, fragment }: LinkLocation): LinkLocation | null => {
  const target = decoded(parameter(query, 'url') ?? '');
  const location = target === null ? null : splitLocation(fragment === '' ? target : `${target}#${fragment}`);
  return location && clientRoute(location);
};

const isLauncher = ({ segments }: LinkLocation) => segments.join('/') === 'dl/launcher/launcher.html';

/** Some writers of mails encode a link that is encoded already. */
const decodedTwice = (text: string): string => decoded(decoded(text) ?? '') ?? '';

export const teamsLink = (link: LinkText): RebuiltLink | LinkFault => {
  const route = isLauncher(link) ? launcherRoute(link) : clientRoute(link);
  if (route === null) return 'page';
  const [first, second, third, fourth] = route.segments;
  switch (`${first} ${route.segments.length}`) {
    case 'l 4':
      return second === 'meetup-join' ? longLink(link.host, [decodedTwice(third ?? ''), fourth ?? ''], contextOf(route.query)) : 'page';
    case 'meet 2':
      return shortLink(link.host, second ?? '', route.query);
    case 'light-meetings 2':
      return second === 'launch' ? guestLink(link.host, route.query) : 'page';
    default:
      return 'page';
  }
};
