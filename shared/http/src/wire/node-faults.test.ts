import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import { promisify } from 'node:util';
import { rawExchange } from '@bubbles/testing/raw-http.ts';
import { describe, expect, it } from '@jest/globals';
import { listen } from './listen.ts';

/** Each names what may go when it fails: Node has mended the fault then. */
describe('Node still', () => {
  it('takes a request line that ends in a bare LF for HTTP/0.9 with headers (else the checks of the version may go)', async () => {
    const server = createServer((req, res) => res.end(`${req.httpVersion} ${req.headers['x-a']}`));
    const port = await listen(server, { host: '127.0.0.1', port: 0 });
    const answer = await rawExchange(`http://127.0.0.1:${port}`, 'GET /x\nX-A: 1\r\nConnection: close\r\n\r\n');
    server.close();
    expect(answer).toContain('0.9 1');
  });

  it('loads undici for an import of node:http (else server.ts may import it)', async () => {
    const program = `import 'node:http'; console.log(process.moduleLoadList.some((name) => name.includes('deps/undici')));`;
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program]);
    expect(stdout.trim()).toBe('true');
  });
});
