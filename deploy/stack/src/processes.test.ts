import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expectEventually } from '@bubbles/testing/eventually.ts';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { ProcessPlan } from './plan.ts';
import { openProcesses } from './processes.ts';

/** Stays until it is told to end. */
const plan: ProcessPlan = {
  name: 'gateway-1',
  service: 'gateway',
  entry: 'stays.mjs',
  url: 'http://127.0.0.1:1',
  opsUrl: 'http://127.0.0.1:1',
  environment: {},
};

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'stack-'));
  writeFileSync(join(home, plan.entry), 'setInterval(() => undefined, 60_000);');
});
afterEach(async () => {
  await openProcesses(home).end(plan, 'SIGKILL');
  rmSync(home, { recursive: true });
});

describe('the processes of a stack', () => {
  it('are known by their pid files, whoever started them', async () => {
    openProcesses(home, home).start(plan);
    const later = openProcesses(home);
    // Just after its start a process has no command line yet.
    await expectEventually(() => later.isRunning(plan));
    await later.end(plan, 'SIGKILL');
    expect(later.isRunning(plan)).toBe(false);
  });

  it('are waited for by a command that has nothing else to do', () => {
    const command = `
      import { openProcesses } from ${JSON.stringify(join(import.meta.dirname, 'processes.ts'))};
      const processes = openProcesses(${JSON.stringify(home)}, ${JSON.stringify(home)});
      const plan = ${JSON.stringify(plan)};
      processes.start(plan);
      while (!processes.isRunning(plan));
      processes.signal(plan, 'SIGKILL');
      while (processes.isRunning(plan));
      console.log(await processes.end(plan, 'SIGKILL'));
    `;
    const { status, stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', command], { encoding: 'utf8' });
    expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: 'null\n', stderr: '' });
  });

  it.each(['', 'x', '999999999', String(process.pid)])('are not taken for what the stale pid %p stands for now', async (pid) => {
    const processes = openProcesses(home);
    writeFileSync(join(home, 'pids', `${plan.name}.pid`), pid);
    expect(processes.isRunning(plan)).toBe(false);
    await processes.end(plan, 'SIGKILL');
  });
});
