import { Agent, createServer, request } from 'node:http';
import { serveParent, settings, tellParent } from '../harness/in-child.ts';

/** The least that a proxy on node:http can be. */
const { hostname, port } = new URL(settings<{ readonly upstream: string }>().upstream);
const agent = new Agent({ keepAlive: true, maxSockets: 64 });

const server = createServer((req, res) => {
  const { method, url: path, headers } = req;
  const outgoing = request({ agent, hostname, port, method, path, headers }, (answer) => {
    res.writeHead(answer.statusCode ?? 500, answer.rawHeaders);
    answer.pipe(res);
  });
  outgoing.on('error', () => res.destroy());
  req.pipe(outgoing);
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  tellParent({ url: typeof address === 'object' && address !== null ? `http://127.0.0.1:${address.port}` : '' });
});
serveParent();
