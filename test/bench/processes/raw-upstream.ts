import { createServer } from 'node:net';
import { serveParent, settings, tellParent } from '../harness/in-child.ts';

export interface UpstreamSettings {
  /** Bodies by target, or by path for every query. */
  readonly bodies: Readonly<Record<string, string>>;
  /** Status of every answer; 204 has no body. */
  readonly status?: number;
}

const HEAD_END = '\r\n\r\n';

/** Answers any GET with prepared bytes, for next to no CPU: what is measured is what stands before it. */
const { bodies, status = 200 } = settings<UpstreamSettings>();
const prepared = (body: string): Buffer => {
  const length = status === 204 ? '' : `Content-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`;
  return Buffer.from(`HTTP/1.1 ${status} OK\r\n${length}Cache-Control: no-store\r\n\r\n${status === 204 ? '' : body}`);
};
const answers = new Map(Object.entries(bodies).map(([path, body]) => [path, prepared(body)]));
const unknown = prepared('{}');

const server = createServer({ noDelay: true }, (socket) => {
  let rest = '';
  socket.on('data', (chunk) => {
    rest += chunk.toString('latin1');
    for (let end = rest.indexOf(HEAD_END); end !== -1; end = rest.indexOf(HEAD_END)) {
      const [, target = '', path = ''] = /^\S+ (([^ ?]+)\S*)/.exec(rest) ?? [];
      rest = rest.slice(end + HEAD_END.length);
      socket.write(answers.get(target) ?? answers.get(path) ?? unknown);
    }
  });
  socket.on('error', () => socket.destroy());
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  tellParent({ url: typeof address === 'object' && address !== null ? `http://127.0.0.1:${address.port}` : '' });
});
serveParent();
