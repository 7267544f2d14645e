import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { encodedAnswer } from './encoded-answer.ts';

const answerTo = async (headers: Readonly<Record<string, string>>) => {
  const req = Object.assign(new IncomingMessage(new Socket()), { headers });
  const { status, headers: lines } = await encodedAnswer(req, {
    type: 'text/plain',
    etag: '"a"',
    body: (encoding) => Buffer.from(encoding),
    headers: [],
  });
  return { status, etag: lines[lines.indexOf('ETag') + 1], encoding: lines[lines.indexOf('Content-Encoding') + 1] };
};

describe('an answer that may be compressed', () => {
  it.each(['gzip', 'GZIP', 'deflate, gzip;q=1.0', '*', 'br, *;q=0.1', 'gzip;q=0.5', 'identity, gzip', 'gzip ; q=0.8, identity;q=0.5'])(
    'is compressed for %s',
    async (accepted) => {
      expect(await answerTo({ 'accept-encoding': accepted })).toMatchObject({ etag: '"a-gzip"', encoding: 'gzip' });
    },
  );

  it.each(['', 'identity', 'br', 'gzip;q=0', 'gzip;q=0, *', 'gzip;q=0.4, identity;q=0.5', 'x-gzipped'])(
    'is as it is for "%s"',
    async (accepted) => {
      expect(await answerTo({ 'accept-encoding': accepted })).toMatchObject({ etag: '"a"' });
    },
  );

  it('[API-01] is known by the tag of its encoding alone', async () => {
    expect((await answerTo({ 'if-none-match': '"b", W/"a"' })).status).toBe(304);
    expect((await answerTo({ 'if-none-match': '"a"', 'accept-encoding': 'gzip' })).status).toBe(200);
  });
});
