import type { AddressInfo } from 'node:net';
import { BubblesList } from '@bubbles/contracts/api/bubble.ts';
import Koa from 'koa';
import { serveParent, settings, tellParent } from '../harness/in-child.ts';

export interface KoaSettings {
  /** What is answered, by path with its query. */
  readonly bodies: Readonly<Record<string, string>>;
}

/** The query of a list whose rows are checked and written for every request, as a service without a store would. */
const UNSTORED = '&store=none';

const { bodies } = settings<KoaSettings>();
const lists = new Map(Object.entries(bodies).map(([path, body]) => [`${path}${UNSTORED}`, body]));
const rows = new Map([...lists].filter(([path]) => path.includes('?limit=')).map(([path, body]) => [path, JSON.parse(body) as unknown]));

const app = new Koa();
app.use((ctx) => {
  const list = rows.get(ctx.url);
  ctx.set('Content-Type', 'application/json; charset=utf-8');
  ctx.body = list === undefined ? (bodies[ctx.url] ?? bodies[ctx.path] ?? '{}') : JSON.stringify(BubblesList.parse(list));
});
const server = app.listen(0, '127.0.0.1', () => {
  // Listening on a port, it has an address with one.
  const { port } = server.address() as AddressInfo;
  tellParent({ url: `http://127.0.0.1:${port}` });
});
serveParent();
