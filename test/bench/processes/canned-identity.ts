import { createServer } from 'node:http';
import { serveParent, settings, tellParent } from '../harness/in-child.ts';

/** Admits every credential without looking, and answers every other request with the same few bytes: the cost of the hop to identity alone. */
const { body } = settings<{ readonly body: string }>();
const ASSERTION = 'x'.repeat(500);

interface Checks {
  readonly checks: readonly { readonly h: string }[];
}

const answersTo = ({ checks }: Checks): string =>
  JSON.stringify({
    answers: checks.map(({ h }) => ({ h, outcome: 'allowed', assertion: ASSERTION, limit: 120, remaining: 100, reset_seconds: 60 })),
  });

const server = createServer((req, res) => {
  const chunks: Buffer[] = [];
  req.on('data', (chunk: Buffer) => chunks.push(chunk));
  req.on('end', () => {
    const text = req.method === 'POST' ? answersTo(JSON.parse(Buffer.concat(chunks).toString())) : body;
    res.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) }).end(text);
  });
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  tellParent({ url: typeof address === 'object' && address !== null ? `http://127.0.0.1:${address.port}` : '' });
});
serveParent();
