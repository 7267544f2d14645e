import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';

const LOADED = `
  import { registerHooks } from 'node:module';
  const loaded = [];
  registerHooks({ load: (url, context, next) => { loaded.push(url); return next(url, context); } });
  await import(process.argv[1]);
  process.stdout.write(JSON.stringify(loaded.filter((url) => url.includes('/undici/'))));
`;

describe('a process whose service asks nobody', () => {
  it('does not load undici with the client for calls between services', async () => {
    const client = new URL('./internal-client.ts', import.meta.url).href;
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', LOADED, client]);
    expect(JSON.parse(stdout)).toEqual([]);
  });
});
