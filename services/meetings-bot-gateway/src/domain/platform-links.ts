import { type LinkFault, type LinkText, parameter, type RebuiltLink, secretsQuery } from './link-text.ts';

const MEET_CODE = /^([a-z]{3})-?([a-z]{4})-?([a-z]{3})$/i;

export const meetLink = ({ host, segments }: LinkText): RebuiltLink | LinkFault => {
  const [code = '', ...more] = segments[0] === '_meet' ? segments.slice(1) : segments;
  const letters = more.length === 0 ? MEET_CODE.exec(code) : null;
  if (letters === null) return 'page';
  const hyphenated = letters.slice(1).join('-').toLowerCase();
  return { url: `https://${host}/${hyphenated}`, key: `google_meet:${hyphenated}` };
};

/** Of a person or room; a full stop at its end belongs to the sentence that the link was copied from. */
const NAME = /^[a-z\d](?:[\w.-]{0,126}[a-z\d])?$/i;

/** Plain, or in the groups that invitations print. */
const ZOOM_ID = /^(?:\d{9,11}|\d{3}-\d{3}-\d{3,4}|\d{3}-\d{4}-\d{4})$/;
/** `zoom.com` leads to `zoom.us`. The other clouds have meeting ids of their own. */
const ZOOM_ALIAS = 'zoom.com';
const ZOOM_MAIN = 'zoom.us';
const ZOOM_SECRETS = ['pwd', 'tk'];

/** Kind of page and id, by all the paths that lead to one meeting. */
const zoomPlace = ([first = '', second = '', third = '', ...more]: readonly string[]): readonly [string, string] | null => {
  if (more.length > 0) return null;
  if (third === '') return first === 'j' || first === 'w' || first === 'my' ? [first, second] : first === 's' ? ['j', second] : null;
  if (first !== 'wc') return null;
  if (second === 'join') return ['j', third];
  return third === 'join' || third === 'start' || third === 'meeting' ? ['j', second] : null;
};

export const zoomLink = ({ host, domain, segments, query }: LinkText): RebuiltLink | LinkFault => {
  const place = zoomPlace(segments);
  if (place === null) return 'page';
  const [kind, written] = place;
  if (!(kind === 'my' ? NAME : ZOOM_ID).test(written)) return 'page';
  const secrets = secretsQuery(query, ZOOM_SECRETS);
  if (secrets === null) return 'passcode';
  const cloud = domain === ZOOM_ALIAS ? ZOOM_MAIN : domain;
  const site = host.slice(0, host.length - domain.length);
  const id = kind === 'my' ? written : written.replaceAll('-', '');
  return {
    url: `https://${site}${cloud}/${kind}/${id}${secrets}`,
    key: `zoom:${cloud}:${kind === 'my' ? `my:${id.toLowerCase()}` : id}`,
  };
};

/** Hosts below `webex.com` that belong to Cisco itself, not to a customer's site. */
const WEBEX_OWN = new Set(
  'admin apphelp blog cart collaborationhelp community developer essentials help idbroker instant pricing settings signin status teams web www'
    .split(' ')
    .map((name) => `${name}.webex.com`),
);
/** `j.php` of meetings, `k2` of trainings, `onstage` of events. */
const WEBEX_PAGE = /^(?:(?:k2|onstage|tc)\/)?[egj]\.php$/;
const WEBEX_MTID = /^[a-z][\da-f]{32}$/i;
const WEBEX_SERVICE = /^(webappng|wbxmjs\/joinservice)\/sites\/([^/]+)\/meeting\/(download|info)\/([\da-f]{32}(?:_\d{8}T\d{6}Z)?)$/i;
const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

const webexServiceLink = (host: string, path: string, query: string): RebuiltLink | LinkFault => {
  const [, service, site = '', page, id] = WEBEX_SERVICE.exec(path) ?? [];
  const siteUrl = parameter(query, 'siteurl') ?? '';
  if (id === undefined || !NAME.test(site) || (siteUrl !== '' && !NAME.test(siteUrl))) return 'page';
  return {
    url: `https://${host}/${service}/sites/${site}/meeting/${page}/${id}${siteUrl === '' ? '' : `?siteurl=${siteUrl}`}`,
    key: `webex:${host}:meeting:${id.toLowerCase()}`,
  };
};

/** Pages of one id or name below the site's host. */
const webexRoomLink = (host: string, kind: string, id: string): RebuiltLink | LinkFault => {
  const url = `https://${host}/${kind}/${id}`;
  if (kind === 'm') return UUID.test(id) ? { url, key: `webex:${host}:m:${id.toLowerCase()}` } : 'page';
  const isRoom = (kind === 'meet' || kind === 'join') && NAME.test(id);
  return isRoom ? { url, key: `webex:${host}:room:${id.toLowerCase()}` } : 'page';
};

export const webexLink = ({ host, segments, query }: LinkText): RebuiltLink | LinkFault => {
  if (WEBEX_OWN.has(host)) return 'page';
  if (segments.length > 3) return webexServiceLink(host, segments.join('/'), query);
  const [site = '', ...more] = segments;
  const page = more.join('/');
  // A site may be named like the pages of rooms.
  if (!WEBEX_PAGE.test(page)) return webexRoomLink(host, site, page);
  const meeting = parameter(query, 'MTID') ?? '';
  if (!NAME.test(site) || !WEBEX_MTID.test(meeting)) return 'page';
  return { url: `https://${host}/${site}/${page}?MTID=${meeting}`, key: `webex:${host}:mtid:${meeting.toLowerCase()}` };
};

/** Plain, or in the groups that invitations print. */
const GOTO_ID = /^\d{3}(-?)\d{3}\1\d{3}$/;
const DIGITS = /^[\d-]+$/;
/** First segments below `meet.goto.com` and `gotomeet.me` that are pages, not rooms. */
const GOTO_PAGES = new Set(
  'about account download en features help home index.html install join landing login logout meet meeting meetings new pricing privacy settings signin signup support terms'.split(
    ' ',
  ),
);

const gotoMeeting = (start: string, written: string): RebuiltLink | LinkFault => {
  if (!GOTO_ID.test(written)) return 'page';
  const id = written.replaceAll('-', '');
  return { url: `${start}${id}`, key: `goto_meeting:${id}` };
};

/** `meet.goto.com` and `gotomeet.me`: an id, or the name of a room in any case. */
export const gotoRoomLink = ({ host, segments }: LinkText): RebuiltLink | LinkFault => {
  const [written = '', ...more] = segments;
  if (more.length > 0) return 'page';
  if (DIGITS.test(written)) return gotoMeeting(`https://${host}/`, written);
  const room = written.toLowerCase();
  return NAME.test(room) && !GOTO_PAGES.has(room) ? { url: `https://${host}/${room}`, key: `goto_meeting:room:${room}` } : 'page';
};

const GOTO_PATHS = new Set(['join', 'meeting', 'meet', 'meeting/join']);

/** The hosts of GoTo where a path, or the parameter `meetingId`, precedes the id. */
export const gotoPathLink = ({ host, segments, query }: LinkText): RebuiltLink | LinkFault => {
  const path = segments.slice(0, -1).join('/');
  if (GOTO_PATHS.has(path)) return gotoMeeting(`https://${host}/${path}/`, segments.at(-1) ?? '');
  if (host !== 'app.gotomeeting.com' || segments.length > 1 || (segments[0] ?? 'index.html') !== 'index.html') return 'page';
  return gotoMeeting(`https://${host}/?meetingId=`, parameter(query, 'meetingId') ?? parameter(query, 'meetingid') ?? '');
};
