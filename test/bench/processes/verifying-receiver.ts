import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';
import { serveParent, settings, tellParent } from '../harness/in-child.ts';
import { lagOf, type Received } from './lag-of.ts';

const { secret } = settings<{ readonly secret: string }>();
let answered = 0;
let lags: number[] = [];

const SIGNATURE = /^t=(\d+),v1=([0-9a-f]{64})$/;

/** Costs the same for a request that is not signed. */
const isGenuine = (body: Buffer, header: string): boolean => {
  const [, t = '0', v1 = ''] = SIGNATURE.exec(header) ?? [];
  const expected = createHmac('sha256', secret).update(`${t}.`).update(body).digest();
  const given = Buffer.from(v1.padEnd(64, '0'), 'hex');
  return timingSafeEqual(given, expected);
};

/** A receiver as it is written in Node: reads the body, verifies it and answers. */
const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const signature = String(request.headers['x-service-signature'] ?? '');
    const body = Buffer.concat(chunks);
    const genuine = isGenuine(body, signature);
    answered += 1;
    const lag = lagOf(body);
    if (lag !== null) lags.push(lag);
    response.writeHead(genuine || signature === '' ? 204 : 400).end();
  });
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  tellParent({ port, url: `http://127.0.0.1:${port}` });
});
serveParent((): Received => {
  const figures = { answered, lags };
  [answered, lags] = [0, []];
  return figures;
});
