import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';

const MAIN = join(import.meta.dirname, 'main.ts');

/** Where nobody listens any more. */
const closedPort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
};

describe('the topology job', () => {
  it('ends with one line that names the broker when that is out of reach', async () => {
    const port = await closedPort();
    const env = { AMQP_URL: `amqp://user:hunter2@127.0.0.1:${port}` };
    const { status, stderr } = spawnSync(process.execPath, [MAIN], { env, encoding: 'utf8' });
    expect(stderr).toBe(`topology: the broker at 127.0.0.1:${port} is out of reach: ECONNREFUSED\n`);
    expect(status).toBe(2);
  });
});
