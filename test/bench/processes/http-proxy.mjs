import { Agent, createServer } from 'node:http';
import httpProxy from 'http-proxy';
import { serveParent, settings, tellParent } from '../harness/in-child.ts';

const proxy = httpProxy.createProxyServer({
  target: settings().upstream,
  agent: new Agent({ keepAlive: true, maxSockets: 64 }),
  xfwd: true,
});
const server = createServer((req, res) => proxy.web(req, res));
server.listen(0, '127.0.0.1', () => tellParent({ url: `http://127.0.0.1:${server.address().port}` }));
serveParent();
