import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { expectEventually } from '@bubbles/testing/eventually.ts';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

const SCRIPT = join(import.meta.dirname, 'engines.sh');
const TOOLS = ['bash', 'cat', 'chmod', 'date', 'dirname', 'flock', 'grep', 'mkdir', 'mv', 'rm', 'setsid', 'sleep', 'tail'];

let home: string;
let bin: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'engines-'));
  bin = join(home, 'bin');
  mkdirSync(bin);
  for (const tool of TOOLS) symlinkSync(pathOf(tool), join(bin, tool));
});
afterEach(() => rmSync(home, { recursive: true }));

const pathOf = (tool: string): string => {
  const found = (process.env['PATH'] ?? '').split(delimiter).find((folder) => existsSync(join(folder, tool)));
  if (found === undefined) throw new Error(`there is no ${tool}`);
  return join(found, tool);
};

const program = (name: string, lines: string) => {
  writeFileSync(join(bin, name), `#!/bin/bash\n${lines}\n`);
  chmodSync(join(bin, name), 0o755);
};
const calls = (name: string): string => (existsSync(join(home, name)) ? readFileSync(join(home, name), 'utf8') : '');

/** On a machine that has these programs and nobody at the terminal; the store is somebody else's. */
const environment = () => ({
  PATH: bin,
  ENGINES_HOME: join(home, 'state'),
  RABBITMQ_BIN: join(home, 'broker'),
  MONGODB_URL: 'mongodb://store',
  TMPDIR: home,
});
const run = (...words: readonly string[]) => {
  const { status, stdout, stderr } = spawnSync(pathOf('bash'), [SCRIPT, ...words], { env: environment(), encoding: 'utf8' });
  return { status, stdout, lines: stderr.trim().split('\n') };
};
const up = (...words: readonly string[]) => run('up', ...words);

describe('the engines on a machine without their packages', () => {
  it('say to one who is not root what is missing and how to install it', () => {
    program('id', 'echo 1000');
    program('apt-get', `echo "$*" >>${home}/apt-calls`);
    expect(up()).toEqual({
      status: 2,
      stdout: '',
      lines: ['engines: rabbitmq-server: not installed; as root: apt-get install --no-install-recommends rabbitmq-server'],
    });
    expect(calls('apt-calls')).toBe('');
  });

  it('name what else can be done where there is no apt-get', () => {
    program('id', 'echo 0');
    const { status, lines } = up();
    expect(status).toBe(2);
    expect(lines).toEqual([expect.stringMatching(/^engines: rabbitmq-server: not installed, .* AMQP_URL and MONGODB_URL$/)]);
  });

  it('install them without a question when nobody is at the terminal, with a line that says so, and stop when that fails', () => {
    program('id', 'echo 0');
    program('apt-get', `echo "$*" >>${home}/apt-calls; exit 100`);
    const { status, lines } = up();
    expect(status).toBe(2);
    expect(lines[0]).toMatch(/^engines: installs rabbitmq-server with apt-get, without asking/);
    expect(lines.at(-1)).toBe('engines: apt-get update ended with 100, see above');
    expect(calls('apt-calls')).toBe('update -q\n');
  });
});

describe('a pid file', () => {
  const started: ChildProcess[] = [];
  afterEach(() => {
    for (const process of started.splice(0)) process.kill('SIGKILL');
  });
  const isAlive = (process: ChildProcess) => process.exitCode === null && process.signalCode === null;

  /** A broker that runs and never answers; the command that started it waits for it. */
  const startBroker = async () => {
    mkdirSync(join(home, 'broker'));
    program('../broker/rabbitmq-server', `echo ready >${home}/broker-runs; exec sleep 300`);
    const command = spawn(pathOf('bash'), [SCRIPT, 'up'], { env: environment(), stdio: 'ignore' });
    started.push(command);
    const file = join(home, 'state', 'broker.pid');
    await expectEventually(() => calls('broker-runs') !== '' && existsSync(file) && /^\d+/.test(readFileSync(file, 'utf8')));
    command.kill('SIGKILL');
    await once(command, 'exit');
    return file;
  };

  it('is believed while the process that it names is the one that was started', async () => {
    await startBroker();
    expect(run('status').stdout).toMatch(/^broker runs as \d+$/m);
    expect(run('down').status).toBe(0);
    expect(run('status').stdout).toMatch(/^broker does not run$/m);
  });

  it('that is left from before a restart of the machine harms nobody who has the pid now', async () => {
    const file = await startBroker();
    const left = readFileSync(file, 'utf8');
    run('down');
    const other = spawn('sleep', ['300'], { detached: true, stdio: 'ignore' });
    started.push(other);
    writeFileSync(file, left.replace(/^\d+/, String(other.pid)));
    expect(run('status').stdout).toMatch(/^broker does not run$/m);
    expect(run('signal', 'broker', 'TERM').status).not.toBe(0);
    expect(run('down').status).toBe(0);
    expect([isAlive(other), existsSync(file)]).toEqual([true, false]);
  });
});
