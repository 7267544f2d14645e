import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Sandbox, startSandbox } from './support/sandbox-world.ts';

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await startSandbox();
});
afterAll(() => sandbox.stop());

describe('a web page on the same machine', () => {
  const post = (headers: Readonly<Record<string, string>>) =>
    fetch(`${sandbox.url}/_sandbox/clock`, { method: 'POST', headers, body: JSON.stringify({ advance_seconds: 0 }) });

  it.each(['https://page.example.com', 'http://localhost:1', 'null'])('of the origin %s may give no orders', async (origin) => {
    const answer = await post({ 'content-type': 'application/json', origin });
    expect([answer.status, await answer.json()]).toMatchObject([403, { error: { type: 'forbidden' } }]);
  });

  it('of its own may', async () => {
    expect((await post({ 'content-type': 'application/json', origin: sandbox.url })).status).toBeLessThan(300);
  });
});
