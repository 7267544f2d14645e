import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemIds } from '@bubbles/kernel/ids.ts';
import { startTestService, type TestService } from '@bubbles/testing/service-under-test.ts';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createFileStore } from '../src/adapters/media/file-store.ts';
import { meetingsBotGateway } from '../src/service.ts';
import { aFile } from './builders.ts';

const KEY = 'c3'.repeat(32);
const EMPTY = 'd4'.repeat(32);
const CONTENT = '0123456789';

let folder: string;
let service: TestService;
let tag: string;
const get = (headers: Record<string, string> = {}, { key = KEY, method = 'GET' } = {}) =>
  service.fetch(`/media/${key}`, { method, headers });

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'media-'));
  const store = createFileStore({ folder, ids: systemIds() });
  await store.put(KEY, aFile([CONTENT]), new AbortController().signal);
  await store.put(EMPTY, { ...aFile([]), contentType: 'audio/mpeg' }, new AbortController().signal);
  service = await startTestService(meetingsBotGateway, { environment: { MEDIA_FOLDER: folder } });
  tag = (await get()).headers.get('etag') ?? '';
});
afterAll(async () => {
  await service.stop();
  await rm(folder, { recursive: true });
});

const whole = { status: 200, length: '10', range: null, text: CONTENT };
const part = (text: string, range: string) => ({ status: 206, length: String(text.length), range: `bytes ${range}/10`, text });
const none = { status: 416, length: '0', range: 'bytes */10', text: '' };
const seen = async (response: Response) => ({
  status: response.status,
  length: response.headers.get('content-length'),
  range: response.headers.get('content-range'),
  text: await response.text(),
});

describe('the file of a recording', () => {
  it('is served to whoever has its key, so that it plays and runs nothing', async () => {
    const response = await get();
    expect(await seen(response)).toEqual(whole);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'video/mp4',
      'content-disposition': 'inline; filename="recording.mp4"',
      'x-content-type-options': 'nosniff',
      'content-security-policy': expect.stringMatching(/^sandbox allow-same-origin; default-src 'none';/),
      'cross-origin-resource-policy': 'cross-origin',
      'cache-control': 'private, max-age=3600',
      'accept-ranges': 'bytes',
      etag: expect.stringMatching(/^"[0-9a-f-]{36}"$/),
    });
  });

  it('[GEN-08] answers HEAD by its headers', async () => {
    expect(await seen(await get({}, { method: 'HEAD' }))).toEqual({ ...whole, text: '' });
    expect(await seen(await get({ range: 'bytes=2-4' }, { method: 'HEAD' }))).toEqual({ ...part('234', '2-4'), text: '' });
  });

  it.each([
    ['bytes=0-0', part('0', '0-0')],
    ['bytes=2-4', part('234', '2-4')],
    ['bytes=7-', part('789', '7-9')],
    ['bytes=0-', part(CONTENT, '0-9')],
    ['bytes=5-999', part('56789', '5-9')],
    ['bytes=9-99999999999999999999999999', part('9', '9-9')],
    ['bytes=-3', part('789', '7-9')],
    ['bytes=-999', part(CONTENT, '0-9')],
    ['BYTES= 1-2 ', part('12', '1-2')],
    ['bytes=10-', none],
    ['bytes=10-10', none],
    ['bytes=99999999999999999999999999-', none],
    ['bytes=-0', none],
    ['bytes=4-2', whole],
    ['bytes=-', whole],
    ['bytes=', whole],
    ['bytes', whole],
    ['bytes=a-b', whole],
    ['bytes=0x1-2', whole],
    ['bytes=-1-2', whole],
    ['bytes=1 - 2', whole],
    ['bytes=1.0-2', whole],
    ['bytes=0-1,4-5', whole],
    ['bytes=0-1,', whole],
    ['items=0-1', whole],
    ['0-1', whole],
  ])('answers the range %j', async (range, expected) => {
    expect(await seen(await get({ range }))).toEqual(expected);
  });

  it('answers many ranges at once as if there were none', async () => {
    const range = `bytes=${Array.from({ length: 1000 }, (_, n) => `${n % 10}-`).join(',')}`;
    expect(await seen(await get({ range }))).toEqual(whole);
  });

  it('gives a part only of the file that is asked for', async () => {
    const range = 'bytes=0-0';
    expect(await seen(await get({ range, 'if-range': tag }))).toEqual(part('0', '0-0'));
    for (const other of ['"another"', `W/${tag}`, 'Mon, 02 Mar 2026 12:00:00 GMT', ''])
      expect(await seen(await get({ range, 'if-range': other }))).toEqual(whole);
  });

  it('is not sent again to who has it', async () => {
    for (const known of [tag, `W/${tag}`, `"another", ${tag}`, '*']) {
      const response = await get({ 'if-none-match': known, range: 'bytes=0-0' });
      expect([response.status, await response.text(), response.headers.get('etag')]).toEqual([304, '', tag]);
    }
    expect((await get({ 'if-none-match': '"another"' })).status).toBe(200);
  });

  it('may be empty', async () => {
    const response = await get({}, { key: EMPTY });
    expect([response.headers.get('content-disposition'), await seen(response)]).toEqual([
      'inline; filename="recording.mp3"',
      { status: 200, length: '0', range: null, text: '' },
    ]);
    expect(await seen(await get({ range: 'bytes=0-' }, { key: EMPTY }))).toMatchObject({ status: 416, range: 'bytes */0' });
  });

  it.each(['e5'.repeat(32), KEY.toUpperCase(), `${KEY}0`, 'unfinished', '..%2f..%2fetc%2fpasswd', '%2e%2e', `${KEY}%00`, `${KEY}/`, ''])(
    '[GEN-08] is not found by %s',
    async (key) => {
      const response = await get({}, { key });
      expect([404, 400]).toContain(response.status);
      expect(await response.json()).toMatchObject({ error: { message: expect.any(String) } });
    },
  );
});
