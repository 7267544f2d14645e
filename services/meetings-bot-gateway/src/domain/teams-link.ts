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

/** Thread and message, the thread plain or encoded; some writers of mails encode it twice. */
const LONG_PATH =
  /^l\/meetup-join\/19(?::|%(?:25)?3[aA])([\w=-]{1,200})(?:@|%(?:25)?40)(thread\.(?:v2|tacv2|skype)|unq\.gbl\.spaces)\/(\d{1,20})$/;
const SHORT_PATH = /^meet\/(\d{9,18})$/;
const GUEST_PATH = 'light-meetings/launch';
const LAUNCHER_PATH = 'dl/launcher/launcher.html';

const GUID = /^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/i;
const QUOTE = '(?:%22|")?';
const SPACE = '(?:%20|[+ ])*';
/** A string member of a JSON object, which may be percent-encoded and, in some mails, has lost its quotation marks. */
const member = (name: string) =>
  new RegExp(`(?:%7B|%2C|[{,])${SPACE}${QUOTE}${name}${QUOTE}${SPACE}(?:%3A|:)${SPACE}${QUOTE}([^"%\\\\,}]*)(?:%22|%2C|%7D|[",}])`, 'i');
const TID = member('Tid');
const OID = member('Oid');
const TENANT_ID = member('tenantId');
const ORGANIZER_ID = member('organizerId');
const CONVERSATION_ID = member('conversationId');
const MESSAGE_ID = member('messageId');
const MEETING_CODE = member('meetingCode');
const MEETING_PASSCODE = member('passcode');
/** What an invitation that was cut off in the middle does not have. */
const WHOLE_OBJECT = /^(?:%7B|\{).*(?:%7D|\})$/i;

const memberValue = (pattern: RegExp, json: string): string => pattern.exec(json)?.[1] ?? '';

/** The organizer may be missing, the tenant not. */
const contextQuery = (tid: string, oid: string): string | null => {
  if (!GUID.test(tid) || (oid !== '' && !GUID.test(oid))) return null;
  const organizer = oid === '' ? '' : `%2C%22Oid%22%3A%22${oid.toLowerCase()}%22`;
  return `?context=%7B%22Tid%22%3A%22${tid.toLowerCase()}%22${organizer}%7D`;
};

/** The context may be missing: then the tenant is found by the thread alone. */
const contextOf = (query: string): string | null => {
  const json = parameter(query, 'context');
  if (json === null) return '';
  return WHOLE_OBJECT.test(json) ? contextQuery(memberValue(TID, json), memberValue(OID, json)) : null;
};

const longLink = (host: string, path: RegExpExecArray, context: string | null): RebuiltLink | LinkFault => {
  if (context === null) return 'page';
  const [, name = '', kind = '', message = ''] = path;
  return {
    url: `https://${host}/l/meetup-join/19%3A${name}%40${kind}/${message}${context}`,
    key: `microsoft_teams:19:${name}@${kind}/${message}`,
  };
};

const shortLink = (host: string, path: RegExpExecArray, query: string): RebuiltLink | LinkFault => {
  const passcode = secretsQuery(query, ['p']);
  if (passcode === null) return 'passcode';
  const [, id = ''] = path;
  return { url: `https://${host}/meet/${id}${passcode}`, key: `microsoft_teams:${host === LIVE_HOST ? 'live' : 'meet'}:${id}` };
};

/** The page of guests has the meeting in base64. It runs below `teams.live.com` for meetings of organizations too. */
const guestLink = (host: string, query: string): RebuiltLink | LinkFault => {
  const json = Buffer.from(decoded(parameter(query, 'coords') ?? '') ?? '', 'base64').toString('latin1');
  const short = SHORT_PATH.exec(`meet/${memberValue(MEETING_CODE, json)}`);
  if (short !== null) return shortLink(host, short, `p=${encodeURIComponent(memberValue(MEETING_PASSCODE, json))}`);
  const long = LONG_PATH.exec(`l/meetup-join/${memberValue(CONVERSATION_ID, json)}/${memberValue(MESSAGE_ID, json) || '0'}`);
  const tenant = memberValue(TENANT_ID, json);
  const ownHost = host === LIVE_HOST && tenant.toLowerCase() !== PERSONAL_TENANT ? WORK_HOST : host;
  return long === null ? 'page' : longLink(ownHost, long, contextQuery(tenant, memberValue(ORGANIZER_ID, json)));
};

/** The web client has its route in the fragment. */
const clientRoute = (location: LinkLocation): LinkLocation =>
  location.fragment.startsWith('/') && (location.path === '_' || location.path === 'v2') ? splitLocation(location.fragment) : location;

/** The launcher has the route in `url`; where that is not encoded, the route's fragment is the page's. */
const launcherRoute = ({ query, fragment }: LinkLocation): LinkLocation | null => {
  const target = decoded(parameter(query, 'url') ?? '');
  if (!target?.startsWith('/')) return null;
  return clientRoute(splitLocation(fragment === '' ? target : `${target}#${fragment}`));
};

export const teamsLink = (link: LinkText): RebuiltLink | LinkFault => {
  const route = link.path === LAUNCHER_PATH ? launcherRoute(link) : clientRoute(link);
  if (route === null) return 'page';
  const long = LONG_PATH.exec(route.path);
  if (long !== null) return longLink(link.host, long, contextOf(route.query));
  const short = SHORT_PATH.exec(route.path);
  if (short !== null) return shortLink(link.host, short, route.query);
  return route.path === GUEST_PATH ? guestLink(link.host, route.query) : 'page';
};
