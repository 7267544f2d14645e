import proxy from '@fastify/http-proxy';
import fastify from 'fastify';
import { serveParent, settings, tellParent } from '../harness/in-child.ts';

const app = fastify();
await app.register(proxy, { upstream: settings().upstream, undici: { connections: 64, pipelining: 1 } });
await app.listen({ host: '127.0.0.1', port: 0 });
tellParent({ url: `http://127.0.0.1:${app.server.address().port}` });
serveParent();
