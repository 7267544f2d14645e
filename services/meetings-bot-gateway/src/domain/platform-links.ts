import { type LinkFault, type LinkText, parameter, type RebuiltLink, secretsQuery } from './link-text.ts';

const MEET_PATH = /^(?:_meet\/)?([a-z]{3})-?([a-z]{4})-?([a-z]{3})$/i;

export const meetLink = ({ host, path }: LinkText): RebuiltLink | LinkFault => {
  const letters = MEET_PATH.exec(path);
  if (letters === null) return 'page';
  const code = `${letters[1]}-${letters[2]}-${letters[3]}`.toLowerCase();
  return { url: `https://${host}/${code}`, key: `google_meet:${code}` };
};

/** Name of a person, site or room; a trailing full stop belongs to the sentence around the link. */
const NAME = /^[a-z\d](?:[\w.-]{0,126}[a-z\d])?$/i;

/** Kind of page and id, by all the paths that lead to one meeting. */
const ZOOM_PATH = /^(?:([jws]|wc\/join)\/((?:[\d-]|%20)+)|wc\/([\d-]+)(?:\/(?:join|start|meeting))?|my\/([\w.-]+))$/;
/** Plain, or in the groups that invitations print. */
const ZOOM_ID = /^(?:\d{9,11}|\d{3}(-|%20)\d{3,4}\1\d{3,4})$/;
/** `zoom.com` leads to `zoom.us`. The other clouds have meeting ids of their own. */
const ZOOM_ALIAS = 'zoom.com';
const ZOOM_MAIN = 'zoom.us';
const ZOOM_SECRETS = ['pwd', 'tk'];

export const zoomLink = ({ host, domain, path, query }: LinkText): RebuiltLink | LinkFault => {
  const parts = ZOOM_PATH.exec(path);
  if (parts === null) return 'page';
  const [, kind, idOfPage, idOfClient, name] = parts;
  const written = idOfPage ?? idOfClient ?? '';
  if (!(name === undefined ? ZOOM_ID.test(written) : NAME.test(name))) return 'page';
  const secrets = secretsQuery(query, ZOOM_SECRETS);
  if (secrets === null) return 'passcode';
  const cloud = domain === ZOOM_ALIAS ? ZOOM_MAIN : domain;
  const start = `https://${host.slice(0, host.length - domain.length)}${cloud}`;
  if (name !== undefined) return { url: `${start}/my/${name}${secrets}`, key: `zoom:${cloud}:my:${name.toLowerCase()}` };
  const id = written.replace(/-|%20/g, '');
  return { url: `${start}/${kind === 'w' ? 'w' : 'j'}/${id}${secrets}`, key: `zoom:${cloud}:${id}` };
};

/** Hosts below `webex.com` that belong to Cisco itself, not to a customer's site. */
const WEBEX_OWN = new Set(
  'admin apphelp blog cart collaborationhelp community developer essentials help idbroker instant pricing settings signin status teams web www'
    .split(' ')
    .map((name) => `${name}.webex.com`),
);
/** Pages of meetings, trainings (`k2`) and events (`onstage`). Matched first, because a site may be named like a room page. */
const WEBEX_PAGE = /^([^/]+)\/((?:(?:k2|onstage|tc)\/)?[egj]\.php)$/;
const WEBEX_MTID = /^[a-z][\da-f]{32}$/i;
const WEBEX_ROOM = /^(meet|join)\/([^/]+)$/;
const WEBEX_SHORT = /^m\/([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})$/i;
const WEBEX_SERVICE = /^((?:webappng|wbxmjs\/joinservice)\/sites\/([^/]+)\/meeting\/(?:download|info))\/([\da-f]{32}(?:_\d{8}T\d{6}Z)?)$/;

const webexPageLink = (host: string, [, site = '', page = '']: RegExpExecArray, query: string): RebuiltLink | LinkFault => {
  const meeting = parameter(query, 'MTID') ?? '';
  if (!NAME.test(site) || !WEBEX_MTID.test(meeting)) return 'page';
  return { url: `https://${host}/${site}/${page}?MTID=${meeting}`, key: `webex:${host}:mtid:${meeting.toLowerCase()}` };
};

const webexServiceLink = (host: string, [, start = '', site = '', id = '']: RegExpExecArray, query: string): RebuiltLink | LinkFault => {
  const siteUrl = parameter(query, 'siteurl') ?? '';
  if (!NAME.test(site) || (siteUrl !== '' && !NAME.test(siteUrl))) return 'page';
  return { url: `https://${host}/${start}/${id}${siteUrl === '' ? '' : `?siteurl=${siteUrl}`}`, key: `webex:${host}:meeting:${id}` };
};

export const webexLink = ({ host, path, query }: LinkText): RebuiltLink | LinkFault => {
  if (WEBEX_OWN.has(host)) return 'page';
  const page = WEBEX_PAGE.exec(path);
  if (page !== null) return webexPageLink(host, page, query);
  const service = WEBEX_SERVICE.exec(path);
  if (service !== null) return webexServiceLink(host, service, query);
  const short = WEBEX_SHORT.exec(path)?.[1];
  if (short !== undefined) return { url: `https://${host}/m/${short}`, key: `webex:${host}:m:${short.toLowerCase()}` };
  const [, kind, room = ''] = WEBEX_ROOM.exec(path) ?? [];
  return NAME.test(room) ? { url: `https://${host}/${kind}/${room}`, key: `webex:${host}:room:${room.toLowerCase()}` } : 'page';
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

/** `meet.goto.com` and `gotomeet.me`: an id, or the name of a room in any case, and perhaps of a topic in it. */
export const gotoRoomLink = ({ host, path }: LinkText): RebuiltLink | LinkFault => {
  if (DIGITS.test(path)) return gotoMeeting(`https://${host}/`, path);
  const lower = path.toLowerCase();
  const [room = '', topic, ...more] = lower.split('/');
  if (more.length > 0 || DIGITS.test(room) || !NAME.test(room) || GOTO_PAGES.has(room)) return 'page';
  if (topic !== undefined && !NAME.test(topic)) return 'page';
  return { url: `https://${host}/${lower}`, key: `goto_meeting:room:${lower}` };
};

const GOTO_PATH = /^(join|meeting|meet|meeting\/join)\/([\d-]+)$/;

/** The hosts of GoTo where a path, or the parameter `meetingId`, precedes the id. */
export const gotoPathLink = ({ host, path, query }: LinkText): RebuiltLink | LinkFault => {
  const parts = GOTO_PATH.exec(path);
  if (parts !== null) return gotoMeeting(`https://${host}/${parts[1]}/`, parts[2] ?? '');
  if (host !== 'app.gotomeeting.com' || (path !== '' && path !== 'index.html')) return 'page';
  return gotoMeeting(`https://${host}/?meetingId=`, parameter(query, 'meetingId') ?? parameter(query, 'meetingid') ?? '');
};
