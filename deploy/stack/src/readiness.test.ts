import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { openProcesses } from './processes.ts';
import { awaitReady } from './readiness.ts';

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'stack-'));
});
afterEach(() => rmSync(home, { recursive: true }));

describe('a process of the stack that does not become ready', () => {
  it('is told with what it said of its own end, and where the rest is', async () => {
    const plan = {
      name: 'gateway-1',
      service: 'gateway' as const,
      entry: 'services/gateway/src/main.ts',
      url: 'http://127.0.0.1:1',
      opsUrl: 'http://127.0.0.1:1',
      environment: {},
    };
    const processes = openProcesses(home);
    processes.start(plan);
    await expect(awaitReady(plan, processes)).rejects.toMatchObject({
      name: 'StartRefused',
      message: expect.stringMatching(/^gateway-1 ended: gateway: bad configuration: .* \(all of it is in .*gateway-1\.log\)$/),
    });
  });
});
