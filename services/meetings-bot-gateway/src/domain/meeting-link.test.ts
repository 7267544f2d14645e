import { describe, expect, it } from '@jest/globals';
import {
  CONTEXT,
  coordinates,
  LONG,
  MEET,
  MTID,
  OID,
  PERSONAL_TENANT,
  SHORT,
  safeLink,
  THREAD,
  THREAD_PATH,
  TID,
  WEBEX_ID,
  ZOOM,
} from '../../test/sample-links.ts';
import { parseMeetingLink } from './meeting-link.ts';

const urlOf = (text: string) => {
  const link = parseMeetingLink(text);
  return 'refused' in link ? link.refused : link.url;
};
const keyOf = (text: string) => {
  const link = parseMeetingLink(text);
  return 'refused' in link ? link.refused : link.key;
};

describe('forms of the platforms', () => {
  it.each([
    // Google Meet
    ['https://meet.google.com/KQZ-WVTM-BFA', MEET],
    ['https://meet.google.com/kqz-wvtm-bfa?pli=1&authuser=0&hs=122', MEET],
    ['https://meet.google.com:443/_meet/kqzwvtmbfa//?x#y', MEET],
    // Teams, long
    [`https://teams.live.com${THREAD_PATH}${CONTEXT}`, `https://teams.live.com${THREAD_PATH}${CONTEXT}`],
    [`https://gov.teams.microsoft.us${THREAD_PATH}${CONTEXT}`, `https://gov.teams.microsoft.us${THREAD_PATH}${CONTEXT}`],
    [`https://teams.cloud.microsoft/l/meetup-join/${THREAD}/0${CONTEXT}`, `https://teams.cloud.microsoft${THREAD_PATH}${CONTEXT}`],
    [`https://teams.microsoft.com/l/meetup-join/${THREAD}/0?context={"Tid":"${TID}","Oid":"${OID}"}`, LONG],
    [`https://teams.microsoft.com/l/meetup-join/${THREAD}/0?context={"Oid":"${OID}",+"Tid":+"${TID}"}`, LONG],
    [
      `https://teams.microsoft.com/l/meetup-join/${THREAD}/0?context=%7b%22tid%22%3a%20%22${TID.toUpperCase()}%22,%22oid%22:%22${OID}%22%7d`,
      LONG,
    ],
    [
      `https://teams.microsoft.com${THREAD_PATH}?context=%7B%22Tid%22%3A%22${TID}%22%2C%22Oid%22%3A%22${OID}%22%2C%22IsBroadcastMeeting%22%3Atrue%7D`,
      LONG,
    ],
    [`https://teams.microsoft.com/l/meetup-join/${encodeURIComponent(encodeURIComponent(THREAD))}/0${CONTEXT}`, LONG],
    [`https://teams.microsoft.com${THREAD_PATH}`, `https://teams.microsoft.com${THREAD_PATH}`],
    [
      `https://teams.microsoft.com/l/meetup-join/19%3a0a1b2c3d4e5f60718293a4b5c6d7e8f9%40thread.tacv2/1603183021543${CONTEXT}`,
      `https://teams.microsoft.com/l/meetup-join/19%3A0a1b2c3d4e5f60718293a4b5c6d7e8f9%40thread.tacv2/1603183021543${CONTEXT}`,
    ],
    [
      `https://teams.microsoft.com/l/meetup-join/19:${TID}_${OID}@unq.gbl.spaces/0`,
      `https://teams.microsoft.com/l/meetup-join/19%3A${TID}_${OID}%40unq.gbl.spaces/0`,
    ],
    [`https://teams.microsoft.com/_?culture=de-de&country=DE&lm=deeplink#/l/meetup-join/${THREAD}/0${CONTEXT}&anon=true`, LONG],
    [`https://teams.microsoft.com/v2/?meetingjoin=true#/l/meetup-join/${THREAD}/0${CONTEXT}&anon=true&deeplinkId=x`, LONG],
    [
      `https://teams.microsoft.com/dl/launcher/launcher.html?url=${encodeURIComponent(`/_#/l/meetup-join/${THREAD}/0${CONTEXT}&anon=true`)}&type=meetup-join`,
      LONG,
    ],
    [
      `https://teams.microsoft.com/dl/launcher/launcher.html?type=meetup-join&url=${encodeURIComponent(`/_#/l/meetup-join/${THREAD}/0?context={"Tid":"${TID}","Oid":"${OID}"}`)}#`,
      LONG,
    ],
    [`https://teams.microsoft.com/dl/launcher/launcher.html?url=${encodeURIComponent(`/l/meetup-join/${THREAD}/0${CONTEXT}`)}`, LONG],
    [`https://teams.microsoft.com/l/meetup-join/${THREAD}/0?context=%7BTid:${TID},Oid:${OID}%7D`, LONG],
    // Teams, short
    ['https://teams.microsoft.com/meet/24871639055123', 'https://teams.microsoft.com/meet/24871639055123'],
    ['https://gov.teams.microsoft.us/meet/24871639055123?p=Xk9', 'https://gov.teams.microsoft.us/meet/24871639055123?p=Xk9'],
    ['https://teams.live.com/_#/meet/9361700000021?p=liveFakeP4ss&anon=true', 'https://teams.live.com/meet/9361700000021?p=liveFakeP4ss'],
    [
      `https://teams.live.com/dl/launcher/launcher.html?url=${encodeURIComponent('/_#/meet/9361700000021?p=liveFakeP4ss&anon=true')}&type=meet`,
      'https://teams.live.com/meet/9361700000021?p=liveFakeP4ss',
    ],
    ['https://teams.microsoft.com/dl/launcher/launcher.html?url=/_#/meet/24871639055123?p=Xk9fakePasscode7Q&anon=true', SHORT],
    [
      `https://teams.microsoft.com/dl/launcher/launcher.html?url=${encodeURIComponent('/v2/?meetingjoin=true#/meet/24871639055123?p=Xk9fakePasscode7Q')}`,
      SHORT,
    ],
    // Teams, page of guests
    [
      `https://teams.microsoft.com/light-meetings/launch?agent=web&coords=${coordinates({ conversationId: THREAD, tenantId: TID, organizerId: OID, messageId: '0' })}&version=25`,
      LONG,
    ],
    [
      `https://teams.live.com/light-meetings/launch?coords=${coordinates({ conversationId: THREAD, tenantId: TID, organizerId: OID, messageId: '0' })}`,
      LONG,
    ],
    [
      `https://teams.microsoft.com/light-meetings/launch?coords=${coordinates({ meetingCode: '24871639055123', passcode: 'Xk9fakePasscode7Q' })}`,
      SHORT,
    ],
    [
      `https://teams.live.com/light-meetings/launch?coords=${coordinates({ conversationId: THREAD, tenantId: PERSONAL_TENANT.toUpperCase() })}`,
      `https://teams.live.com${THREAD_PATH}?context=%7B%22Tid%22%3A%22${PERSONAL_TENANT}%22%7D`,
    ],
    [
      `https://gov.teams.microsoft.us/light-meetings/launch?coords=${coordinates({ conversationId: THREAD, tenantId: TID, organizerId: OID.toUpperCase() })}`,
      `https://gov.teams.microsoft.us${THREAD_PATH}${CONTEXT}`,
    ],
    // Zoom
    ['https://zoom.us/j/84114270867#success', 'https://zoom.us/j/84114270867'],
    ['https://zoom.us/j/123456789?pwd=', 'https://zoom.us/j/123456789'],
    ['https://zoom.us/j/841-1427-0867', 'https://zoom.us/j/84114270867'],
    ['https://zoom.us/j/841%201427%200867', 'https://zoom.us/j/84114270867'],
    ['https://zoom.us/wc/84114270867?pwd=x', 'https://zoom.us/j/84114270867?pwd=x'],
    ['https://zoom.us/wc/84114270867/start?zak=secret', 'https://zoom.us/j/84114270867'],
    ['https://app.zoom.us/wc/84114270867/meeting?pwd=x', 'https://app.zoom.us/j/84114270867?pwd=x'],
    ['https://zoom.us/my/jane.roe?pwd=QmFm', 'https://zoom.us/my/jane.roe?pwd=QmFm'],
    ['https://acme.zoom.us/my/JaneRoe/', 'https://acme.zoom.us/my/JaneRoe'],
    ['https://zoom.com/j/84114270867', 'https://zoom.us/j/84114270867'],
    ['https://zoomgov.com/w/1612345678?tk=a.b', 'https://zoomgov.com/w/1612345678?tk=a.b'],
    ['https://hku.zoom.com.cn/j/2640918958?pwd=UmFp', 'https://hku.zoom.com.cn/j/2640918958?pwd=UmFp'],
    ['https://zoom.us/j/84114270867?pwd=QmFm%3D%3D', 'https://zoom.us/j/84114270867?pwd=QmFm=='],
    ['https://zoom.us/w/84114270867?tk=a.b&amp;pwd=c', 'https://zoom.us/w/84114270867?pwd=c&tk=a.b'],
    ['zoom.us/j/84114270867?pwd=c', 'https://zoom.us/j/84114270867?pwd=c'],
    ['https://zoom-x.de/j/65194487075', 'https://zoom-x.de/j/65194487075'],
    ['https://zoom.com.cn/j/2640918958', 'https://zoom.com.cn/j/2640918958'],
    // Webex
    ['https://acme.webex.com/meet/jane.roe', 'https://acme.webex.com/meet/jane.roe'],
    ['https://acme.webex.com/join/jane.roe?from=mail', 'https://acme.webex.com/join/jane.roe'],
    ['https://acme.webex.com/meet/pr26480021337', 'https://acme.webex.com/meet/pr26480021337'],
    [
      `https://acme.webex.com/acme/onstage/g.php?MTID=e5e1c0b7a94d2f38e6a1b0c9d8e7f6a5b`,
      'https://acme.webex.com/acme/onstage/g.php?MTID=e5e1c0b7a94d2f38e6a1b0c9d8e7f6a5b',
    ],
    [`https://acme.webex.com/acme-en/j.php?siteurl=acme&MTID=${MTID}&PW=secret`, `https://acme.webex.com/acme-en/j.php?MTID=${MTID}`],
    [
      `https://acme.webex.com/webappng/sites/acme/meeting/info/${WEBEX_ID}?siteurl=acme&isPopupRegisterView=true`,
      `https://acme.webex.com/webappng/sites/acme/meeting/info/${WEBEX_ID}?siteurl=acme`,
    ],
    [
      `https://acme.webex.com/webappng/sites/acme/meeting/download/${WEBEX_ID}`,
      `https://acme.webex.com/webappng/sites/acme/meeting/download/${WEBEX_ID}`,
    ],
    [`https://acme.webex.com/m/${TID.toUpperCase()}`, `https://acme.webex.com/m/${TID.toUpperCase()}`],
    // GoTo
    ['https://app.gotomeeting.com/?meetingId=123456789', 'https://app.gotomeeting.com/?meetingId=123456789'],
    ['https://app.gotomeeting.com/index.html?meetingid=123-456-789&x=1', 'https://app.gotomeeting.com/?meetingId=123456789'],
    ['https://global.gotomeeting.com/join/123456789', 'https://global.gotomeeting.com/join/123456789'],
    ['https://global.gotomeeting.com/meeting/join/123456789', 'https://global.gotomeeting.com/meeting/join/123456789'],
    ['https://gotomeeting.com/join/123-456-789', 'https://gotomeeting.com/join/123456789'],
    ['https://gotomeet.me/JaneRoe', 'https://gotomeet.me/janeroe'],
    ['https://www.gotomeet.me/JaneRoe/Standup', 'https://www.gotomeet.me/janeroe/standup'],
    ['https://meet.goto.com/room1', 'https://meet.goto.com/room1'],
    ['https://meet.goto.com/1room', 'https://meet.goto.com/1room'],
    // Wrapped
    ['https://www.google.com/url?q=https://meet.google.com/kqz-wvtm-bfa&sa=D&source=calendar&usg=AOvVaw', MEET],
    [`https://www.google.com/url?sa=t&q=&url=${encodeURIComponent(ZOOM)}&usg=x`, ZOOM],
    [`google.com/url?url=${encodeURIComponent(ZOOM)}`, ZOOM],
    [`https://www.google.com/url?q=${encodeURIComponent(LONG)}`, LONG],
    [safeLink(LONG), LONG],
    [safeLink(ZOOM, 'usg02.safelinks.protection.office365.us'), ZOOM],
    [safeLink(ZOOM, 'can01.safelinks.protection.partner.outlook.cn'), ZOOM],
    [safeLink(ZOOM).replace('&data', '&amp;data'), ZOOM],
    [safeLink(ZOOM).replace('/?url', '/ap/t-59584e83/?url'), ZOOM],
    [safeLink(`https://www.google.com/url?q=${encodeURIComponent(SHORT)}`), SHORT],
  ])('[MEET-02] %s', (text, url) => expect(urlOf(text)).toBe(url));
});

describe('one meeting', () => {
  it.each([
    [ZOOM, 'https://us02web.zoom.us/w/84114270867?tk=other', 'https://zoom.com/wc/join/84114270867', safeLink(ZOOM)],
    ['https://zoom.us/my/jane.roe', 'https://acme.zoom.com/my/Jane.Roe?pwd=x'],
    [`https://acme.webex.com/acme/j.php?MTID=${MTID}`, `https://acme.webex.com/acme-en/j.php?MTID=${MTID.toUpperCase()}`],
    [`https://acme.webex.com/m/${TID}`, `https://acme.webex.com/m/${TID.toUpperCase()}`],
    ['https://acme.webex.com/meet/jane.roe', 'https://ACME.webex.com/join/Jane.Roe'],
    [
      'https://meet.goto.com/123456789',
      'https://app.gotomeeting.com/?meetingId=123-456-789',
      'https://global.gotomeeting.com/join/123456789',
    ],
    ['https://meet.goto.com/JaneRoe', 'https://www.gotomeet.me/janeroe'],
    [SHORT, 'https://teams.microsoft.com/meet/24871639055123', 'https://teams.microsoft.com/v2/#/meet/24871639055123?p=other'],
    [LONG, `https://teams.microsoft.com${THREAD_PATH}`],
  ])('[MEET-06] has one key by all its links: %s', (...links) => expect(new Set(links.map(keyOf)).size).toBe(1));

  it.each([
    ['https://zoom.us/j/1612345678', 'https://www.zoomgov.com/j/1612345678'],
    ['https://teams.live.com/meet/24871639055123', 'https://teams.microsoft.com/meet/24871639055123'],
    ['https://acme.webex.com/meet/jane.roe', 'https://other.webex.com/meet/jane.roe'],
  ])('[MEET-06] has another key than %s: %s', (one, other) => expect(keyOf(one)).not.toBe(keyOf(other)));
});
