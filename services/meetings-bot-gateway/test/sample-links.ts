export const THREAD = '19:meeting_ZmFrZS1pZC1mb3ItdGVzdHMtb25seS0wMDAx@thread.v2';
export const THREAD_PATH = '/l/meetup-join/19%3Ameeting_ZmFrZS1pZC1mb3ItdGVzdHMtb25seS0wMDAx%40thread.v2/0';
export const TID = '3f1c2b9a-7d44-4e0b-9a61-0c5d8e2f7b10';
export const PERSONAL_TENANT = '9188040d-6c67-4c5b-b112-36a304b66dad';
export const OID = 'a94d0e57-1c2f-4b86-8e3d-62f0b7c41d99';
export const CONTEXT = `?context=%7B%22Tid%22%3A%22${TID}%22%2C%22Oid%22%3A%22${OID}%22%7D`;
export const LONG = `https://teams.microsoft.com${THREAD_PATH}${CONTEXT}`;
export const SHORT = 'https://teams.microsoft.com/meet/24871639055123?p=Xk9fakePasscode7Q';
export const ZOOM = 'https://acme.zoom.us/j/84114270867?pwd=QmFmZXNo.1';
export const MEET = 'https://meet.google.com/kqz-wvtm-bfa';
export const MTID = 'm5e1c0b7a94d2f38e6a1b0c9d8e7f6a5b';
export const WEBEX_ID = '7c1e9a40b3d24f6f8e5a0d2c4b6a8f10';
export const coordinates = (members: object) => encodeURIComponent(Buffer.from(JSON.stringify(members)).toString('base64'));
export const safeLink = (target: string, host = 'eur03.safelinks.protection.outlook.com') =>
  `https://${host}/?url=${encodeURIComponent(target)}&data=05%7C02%7Cjane.roe%40example.com&reserved=0`;
