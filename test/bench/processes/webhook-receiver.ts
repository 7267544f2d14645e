import { createServer, type Socket } from 'node:net';
import { serveParent, settings, tellParent } from '../harness/in-child.ts';
import { lagOf, type Received } from './lag-of.ts';

const HEAD_END = Buffer.from('\r\n\r\n');
const YES = Buffer.from('HTTP/1.1 204 No Content\r\n\r\n');
const SILENT = /^POST \/silent/;
/** Of one that is reached over a network, or that stores what it gets before it answers. */
const LATE = /^POST \/late/;
const LATE_MS = 20;

settings<object>();
let answered = 0;
let lags: number[] = [];

/** One request: when its bubble was told of is its title. */
const take = (socket: Socket, head: string, body: Buffer): void => {
  if (SILENT.test(head)) return;
  answered += 1;
  const lag = lagOf(body);
  if (lag !== null) lags.push(lag);
  if (LATE.test(head)) setTimeout(() => socket.write(YES), LATE_MS);
  else socket.write(YES);
};

/** Takes POSTs for next to no CPU: what is measured is who sends them. */
const server = createServer({ noDelay: true }, (socket) => {
  let rest: Buffer = Buffer.alloc(0);
  socket.on('data', (chunk: Buffer) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    for (let end = rest.indexOf(HEAD_END); end !== -1; end = rest.indexOf(HEAD_END)) {
      const head = rest.toString('latin1', 0, end);
      const whole = end + HEAD_END.length + Number(/content-length: (\d+)/i.exec(head)?.[1]);
      if (rest.length < whole) return;
      take(socket, head, rest.subarray(end + HEAD_END.length, whole));
      rest = rest.subarray(whole);
    }
  });
  socket.on('error', () => socket.destroy());
});
// On every address of this machine: each is an origin of its own.
server.listen(0, '0.0.0.0', () => {
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  tellParent({ port, url: `http://127.0.0.1:${port}` });
});
serveParent((): Received => {
  const figures = { answered, lags };
  [answered, lags] = [0, []];
  return figures;
});
