import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { ProcessPlan } from './plan.ts';
import { openProcesses } from './processes.ts';
import { awaitReady } from './readiness.ts';

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'stack-'));
});
afterEach(() => rmSync(home, { recursive: true }));

const planOf = (environment: Readonly<Record<string, string>>): ProcessPlan => ({
  name: 'gateway-1',
  service: 'gateway',
  entry: 'services/gateway/src/main.ts',
  url: 'http://127.0.0.1:1',
  opsUrl: 'http://127.0.0.1:1',
  environment,
});

describe('a process of the stack that does not become ready', () => {
  it('is told with what it said of its own end, and where the rest is', async () => {
    const plan = planOf({});
    const processes = openProcesses(home);
    processes.start(plan);
    await expect(awaitReady(plan, processes)).rejects.toMatchObject({
      name: 'StartupError',
      message: expect.stringMatching(/^gateway-1 ended: gateway: bad configuration: .* \(all of it is in .*gateway-1\.log\)$/),
    });
  });

  it('is told with the root of the last fault in its log when it has said nothing else', async () => {
    const plan = planOf({});
    const processes = openProcesses(home);
    const cause = { name: 'Error', message: 'connect ECONNREFUSED 127.0.0.1:1' };
    const lines = [
      { message: 'the service cannot start yet', error: { message: 'unavailable', cause: { message: 'not selected', cause } } },
      { message: 'connecting again' },
    ];
    writeFileSync(processes.logFile(plan), lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    const told = /^gateway-1 ended: the service cannot start yet: connect ECONNREFUSED 127\.0\.0\.1:1 \(all of it is in /;
    await expect(awaitReady(plan, processes)).rejects.toThrow(told);
  });
});
