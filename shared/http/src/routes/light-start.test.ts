import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';

const LOADED = `
  await import(process.argv[1]);
  process.stdout.write(JSON.stringify(process.moduleLoadList.filter((name) => name.includes('deps/undici'))));
`;

describe('a process of a service', () => {
  it('starts without the fetch that Node brings', async () => {
    const mount = new URL('./app.ts', import.meta.url).href;
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', LOADED, mount]);
    expect(JSON.parse(stdout)).toEqual([]);
  });
});
