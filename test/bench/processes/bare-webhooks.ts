import { createHmac, timingSafeEqual } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import type { Doc } from '@bubbles/store/collection.ts';
import { openEmbedded } from '@bubbles/store-embedded/open-embedded.ts';
import { SILENT_LOG } from '@bubbles/testing/http.ts';
import Koa from 'koa';
import { serveParent, settings, tellParent } from '../harness/in-child.ts';

interface EventDoc extends Doc {
  readonly joinId: string;
  readonly receivedAt: Date;
}

/** The least that a receiver of signed webhooks can be: it checks the signature, and inserts one document. */
const { secret } = settings<{ readonly secret: string }>();
const key = Buffer.from(secret, 'base64');
const events = openEmbedded({ path: ':memory:', log: SILENT_LOG }).database('bare').collection<EventDoc>('events');

const app = new Koa();
app.use(async (ctx) => {
  const body = await buffer(ctx.req);
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature = '' } = ctx.headers;
  const expected = Buffer.from(`v1,${createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64')}`);
  const given = Buffer.from(String(signature));
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) {
    ctx.status = 401;
    return;
  }
  const { data } = JSON.parse(body.toString());
  await events.insert({ _id: String(id), joinId: String(data.bot.metadata.join_id), receivedAt: new Date() });
  ctx.status = 204;
});
const server = app.listen(0, '127.0.0.1', () => {
  // Listening on a port, it has an address with one.
  const { port } = server.address() as AddressInfo;
  tellParent({ url: `http://127.0.0.1:${port}` });
});
serveParent();
