import { describe, expect, it } from '@jest/globals';
import { parseMeetingLink } from './meeting-link.ts';

const THREAD = '19:meeting_ZmFrZS1pZC1mb3ItdGVzdHMtb25seS0wMDAx@thread.v2';
const THREAD_PATH = '/l/meetup-join/19%3Ameeting_ZmFrZS1pZC1mb3ItdGVzdHMtb25seS0wMDAx%40thread.v2/0';
const TID = '3f1c2b9a-7d44-4e0b-9a61-0c5d8e2f7b10';
const OID = 'a94d0e57-1c2f-4b86-8e3d-62f0b7c41d99';
const CONTEXT = `?context=%7B%22Tid%22%3A%22${TID}%22%2C%22Oid%22%3A%22${OID}%22%7D`;
const LONG = `https://teams.microsoft.com${THREAD_PATH}${CONTEXT}`;
const SHORT = 'https://teams.microsoft.com/meet/24871639055123?p=Xk9fakePasscode7Q';
const ZOOM = 'https://acme.zoom.us/j/84114270867?pwd=QmFmZXNo.1';
const MEET = 'https://meet.google.com/kqz-wvtm-bfa';
const MTID = 'm5e1c0b7a94d2f38e6a1b0c9d8e7f6a5b';
const WEBEX_ID = '7c1e9a40b3d24f6f8e5a0d2c4b6a8f10';
const coordinates = (members: object) => encodeURIComponent(Buffer.from(JSON.stringify(members)).toString('base64'));
const safeLink = (target: string, host = 'eur03.safelinks.protection.outlook.com') =>
  `https://${host}/?url=${encodeURIComponent(target)}&data=05%7C02%7Cjane.roe%40example.com&reserved=0`;
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
    // GoTo
    ['https://app.gotomeeting.com/?meetingId=123456789', 'https://app.gotomeeting.com/?meetingId=123456789'],
    ['https://app.gotomeeting.com/index.html?meetingid=123-456-789&x=1', 'https://app.gotomeeting.com/?meetingId=123456789'],
    ['https://global.gotomeeting.com/join/123456789', 'https://global.gotomeeting.com/join/123456789'],
    ['https://global.gotomeeting.com/meeting/join/123456789', 'https://global.gotomeeting.com/meeting/join/123456789'],
    ['https://gotomeeting.com/join/123-456-789', 'https://gotomeeting.com/join/123456789'],
    ['https://gotomeet.me/JaneRoe', 'https://gotomeet.me/janeroe'],
    ['https://www.gotomeet.me/JaneRoe/Standup', 'https://www.gotomeet.me/janeroe/standup'],
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

describe('links that are refused', () => {
  it.each([
    ['', 'must have 1 to 2048 characters, all of them visible ASCII characters without spaces.'],
    [`${MEET}?${'x'.repeat(2048)}`, 'must have 1 to 2048 characters, all of them visible ASCII characters without spaces.'],
    [`${MEET}\u0000`, 'must have 1 to 2048 characters, all of them visible ASCII characters without spaces.'],
    ['http://zoom.us/j/84114270867', 'must be one link that starts with https://.'],
    ['//zoom.us/j/84114270867', 'must be one link that starts with https://.'],
    ['zoom.us:443/j/84114270867', 'must be one link that starts with https://.'],
    ['https://meet.jit.si/Room', 'must be a link of Google Meet, Microsoft Teams, Zoom, Webex or GoTo.'],
    ['https://zoom.us/pricing', 'must be the complete link of a meeting. This Zoom link is of another page, or incomplete.'],
    ['https://zoom.us/j/84114270867?pwd=a"b', 'must have an undamaged passcode. Copy the link from the invitation again.'],
    [safeLink(safeLink(safeLink(ZOOM))), 'must not be wrapped more than 2 times. Open the link and copy the address of the meeting.'],
  ])('[MEET-02] %j: %s', (text, reason) => expect(parseMeetingLink(text)).toEqual({ refused: `meeting_url: ${reason}` }));

  it.each([
    'https://meet.google.com/new',
    'https://meet.google.com/kqz-wvtm-bfaa',
    'https://meet.google.com/kqz-wvtm',
    'https://meet.google.com/kqz-wvtm-bfa/extra',
    'https://meet.google.com/kqz%2Dwvtm-bfa',
    'https://meet.google.com/_meet/_meet/kqz-wvtm-bfa',
    'https://meet.google.com/linkredirect?dest=https%3A%2F%2Fevil.example',
    'https://g.co/meet/standup',
    'https://zoom.us',
    'https://zoom.us/j/841142708671',
    'https://zoom.us/j/841-142-708-67',
    'https://zoom.us/j/../my/evil',
    'https://zoom.us/j/84114270867/extra',
    'https://zoom.us/j/84114270867%00',
    'https://zoom.us/j/84114270867%20',
    'https://zoom.us/j/841%201427-0867',
    'https://zoom.us/j/84114270867%0d%0aHost:evil.example',
    'https://zoom.us/j/84114270867\\..\\x',
    'https://zoom.us/j/84114270867?pwd=%ZZ',
    'https://zoom.us/j/84114270867?pwd=%E2%80%AE',
    'https://zoom.us/j/84114270867?pwd=a%26tk%3Db',
    'https://zoom.us/my/..',
    'https://zoom.us/my/jane.roe.',
    'https://zoom.us/wc/leave',
    'https://zoom.us/wc/home/join',
    'https://zoom.us/rec/share/fake',
    'https://zoom.us/launch/chat?src=direct_chat_link',
    'https://us02web.zoom.us/postattendee?mn=fake',
    'https://-acme.zoom.us/j/84114270867',
    'https://acme-.zoom.us/j/84114270867',
    'https://.zoom.us/j/84114270867',
    'https://xn--a.zoom.us/j/84114270867',
    `https://${'a'.repeat(64)}.zoom.us/j/84114270867`,
    `https://${'a.'.repeat(130)}zoom.us/j/84114270867`,
    'https://zoom.us:/j/84114270867',
    'https://zoom.us:443:443/j/84114270867',
    'https://zoom.us\\@evil.example/j/84114270867',
    'https://user:pass@zoom.us/j/84114270867',
    'https://zoom.us.evil.example/j/84114270867',
    'https://zoom.us%2eevil.example/j/84114270867',
    'https://zoomgov.us/j/1612345678',
    'https://zoom-x.de.evil.example/j/65194487075',
    'https://webex.com/meet/jane.roe',
    'https://acme.webex.com/meet/',
    'https://acme.webex.com/meet/..',
    'https://acme.webex.com/acme/j.php?MTID=',
    'https://acme.webex.com/acme/j.php?MTID=m5e1c0b7a94d2f38e6a1b0c9d8e7f6a5b%22',
    'https://acme.webex.com/acme/ldr.php?RCID=5e1c0b7a94d2f38e6a1b0c9d8e7f6a5b',
    'https://acme.webex.com/weblink/register/r5e1c0b7a94d2f38e6a1b0c9d8e7f6a5b',
    `https://acme.webex.com/webappng/sites/acme/meeting/download/${WEBEX_ID}?siteurl=a%2Fb`,
    `https://acme.webex.com/webappng/sites/../meeting/download/${WEBEX_ID}`,
    'https://acme.webex.com/webappng/sites/acme/meeting/home',
    'https://signin.webex.com/meet/jane.roe',
    'https://meet.goto.com/12345678',
    'https://meet.goto.com/123-456789',
    'https://meet.goto.com/login',
    'https://meet.goto.com/janeroe/standup/x',
    'https://meet.goto.com/123456789/standup',
    'https://meet.goto.com/install/123456789',
    'https://meet.goto.com/jane%20roe',
    'https://app.gotomeeting.com/?meetingId=12',
    'https://app.goto.com/meetings',
    'https://evil.gotomeeting.com/join/123456789',
    'https://teams.microsoft.com/meet/2487',
    'https://teams.microsoft.com/meet/24871639055123?p=a%20b',
    'https://teams.microsoft.com/meet/24871639055123/extra',
    'https://evil.teams.microsoft.com/meet/24871639055123',
    'https://teams.microsoft.com/_#//evil.example/meet/24871639055123',
    'https://teams.microsoft.com/dl/launcher/launcher.html?url=//evil.example/meet/24871639055123',
    'https://teams.microsoft.com/dl/launcher/launcher.html',
    `https://teams.microsoft.com/l/meetup-join/19:a@evil.example/0${CONTEXT}`,
    `https://teams.microsoft.com/l/meetup-join/${THREAD}${CONTEXT}`,
    `https://teams.microsoft.com/l/meetup-join/${THREAD}/abc${CONTEXT}`,
    `https://teams.microsoft.com${THREAD_PATH}?context=`,
    `https://teams.microsoft.com${THREAD_PATH}?context=%7b%22Tid%22%3a%223f1c2b9a`,
    `https://teams.microsoft.com${THREAD_PATH}?context=%7B%22Tid%22%3A%22x%22%7D`,
    `https://teams.microsoft.com${THREAD_PATH}?context=%7B%22Oid%22%3A%22${OID}%22%7D`,
    `https://teams.microsoft.com${THREAD_PATH}?context=%7B%22Tid%22%3A%22${TID}%22%2C%22Oid%22%3A%22x%22%7D`,
    `https://teams.microsoft.com/light-meetings/launch?coords=${coordinates({ conversationId: '19:../x@thread.v2', tenantId: TID })}`,
    `https://teams.microsoft.com/light-meetings/launch?coords=${coordinates({ meetingCode: '24871639055123', passcode: 'a b' })}`,
    'https://teams.microsoft.com/light-meetings/launch',
    safeLink('javascript:alert(1)'),
    safeLink('http://zoom.us/j/84114270867'),
    safeLink('https://zoom.us/j/84114270867\n'),
    safeLink('https://zoom.us\u3002/j/84114270867'),
    'https://eur03.safelinks.protection.outlook.com/other?url=https%3A%2F%2Fzoom.us%2Fj%2F84114270867',
    'https://eur03.safelinks.protection.outlook.com/?data=x',
    'https://safelinks.protection.outlook.com/?url=https%3A%2F%2Fzoom.us%2Fj%2F84114270867',
    'https://www.google.com/search?q=https%3A%2F%2Fzoom.us%2Fj%2F84114270867',
    'https://www.google.com/url?q=',
    'https://www.google.com.evil.example/url?q=https%3A%2F%2Fzoom.us%2Fj%2F84114270867',
  ])('[MEET-02] %j', (text) => expect(parseMeetingLink(text)).toEqual({ refused: expect.stringMatching(/^meeting_url: must .+\.$/) }));
});

describe('one meeting', () => {
  it.each([
    [ZOOM, 'https://us02web.zoom.us/w/84114270867?tk=other', 'https://zoom.com/wc/join/84114270867', safeLink(ZOOM)],
    ['https://zoom.us/my/jane.roe', 'https://acme.zoom.com/my/Jane.Roe?pwd=x'],
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
