import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { z } from 'zod';
import { partsOf } from '../../deploy/services/src/deployment.ts';
import { baseImage, buildImage, command, imageOf, podman } from './engine.ts';

const PROJECT = 'bubbles-compose-test';
const PORT = 8690;
const PARTS = partsOf();
const processes = PARTS.filter(({ kind }) => kind !== 'job').map(({ name }) => name);
const LIMIT_MS = 120_000;
/** Beyond what a process gives its last requests. */
const END_LIMIT_S = 45;
const CONFORMANCE = ['list', 'reading'];

const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8');
const { services }: { services: Readonly<Record<string, { readonly healthcheck?: { readonly test: readonly string[] } }>> } = parse(
  read('../../compose.yaml'),
  { merge: true },
);
const Mails = z.array(z.object({ to: z.array(z.string()) }));
const README = read('../../README.md');

const PODMAN_COMPOSE = [
  'podman-compose',
  '--project-name',
  PROJECT,
  '--file',
  'compose.yaml',
  '--file',
  'test/images/compose.stand-ins.yaml',
];
let base: string;
const environment = () => ['env', `PORT=${PORT}`, `STAND_IN=${base}`] as const;
const compose = (...words: readonly string[]) => command(...environment(), ...PODMAN_COMPOSE, ...words);
const containerOf = (service: string) => `${PROJECT}_${service}_1`;
const inspected = (service: string, format: string) => podman('inspect', '--format', format, containerOf(service));
const addressOf = (service: string) => inspected(service, `{{(index .NetworkSettings.Networks "${PROJECT}_engines").IPAddress}}`);
const volumeOf = (name: string) => podman('volume', 'inspect', '--format', '{{.Mountpoint}}', `${PROJECT}_${name}`);

/** Until the command succeeds in its container. */
const awaitInside = async (service: string, words: readonly string[]): Promise<void> => {
  const deadline = performance.now() + LIMIT_MS;
  for (;;) {
    const fault: unknown = await podman('exec', containerOf(service), ...words).then(
      () => null,
      (error: unknown) => error,
    );
    if (fault === null) return;
    if (performance.now() > deadline)
      throw new Error(`${service} is not healthy: ${await podman('logs', '--tail', '5', containerOf(service))}`, { cause: fault });
    await pause(200);
  }
};
/** By the check that compose.yaml has for it. */
const awaitHealthy = (service: string) => awaitInside(service, services[service]?.healthcheck?.test.slice(1) ?? []);
const JOBS = ['keys', 'mongodb-users', 'topology', 'migration'];
/** Podman 4 starts nothing that depends on what depends on something else, so that who starts when is said here. */
const start = async (...names: readonly string[]) => {
  await compose('up', '--detach', '--no-deps', ...names);
  const toEnd = names.filter((name) => JOBS.includes(name)).map(containerOf);
  if (toEnd.length > 0) await podman('wait', ...toEnd);
};
const exitCodes = (names: readonly string[]) =>
  Promise.all(names.map(async (name) => [name, await inspected(name, '{{.State.ExitCode}}')]));
const down = () => compose('--profile', 'operator', 'down', '--volumes', '--timeout', '1');

beforeAll(async () => {
  base = await baseImage();
  for (const { workspace } of PARTS) {
    await buildImage(workspace, base);
    await podman('tag', imageOf(workspace), `${imageOf(workspace)}:local`);
  }
  await command('bash', 'deploy/engines/engines.sh', 'build');
  await down();
});
afterAll(() => down());

const GO = spawnSync('go', ['version']).status === 0;
describe('compose.yaml', () => {
  const load = (...files: readonly string[]) =>
    command(
      'env',
      '--chdir=test/images/composecheck',
      'go',
      'run',
      '.',
      ...files.map((file) => fileURLToPath(new URL(file, import.meta.url))),
    );
  const broken = (change: (text: string) => string) => {
    const file = join(mkdtempSync(join(tmpdir(), 'compose-')), 'compose.yaml');
    writeFileSync(file, change(read('../../compose.yaml')));
    return command('env', '--chdir=test/images/composecheck', 'go', 'run', '.', file);
  };

  if (GO)
    it('is taken by the loader of docker compose, which refuses what it does not know', async () => {
      expect(await load('../../compose.yaml')).toBe('');
      await expect(broken((text) => text.replace('cap_drop:', 'cap_dropp:'))).rejects.toMatchObject({ code: 1 });
      await expect(broken((text) => text.replace('{ condition: service_healthy }', '{ condition: healthy }'))).rejects.toMatchObject({
        code: 1,
      });
      await expect(broken((text) => text.replace('      keys: {', '      kees: {'))).rejects.toMatchObject({ code: 1 });
    });
});

describe('the product by compose.yaml, with stand-ins for the images of others', () => {
  it('comes up: first the jobs, then every process', async () => {
    await start('keys');
    await start('rabbitmq', 'mongodb', 'mail');
    await awaitHealthy('rabbitmq');
    await start('mongodb-users', 'topology');
    // The check of compose.yaml is a program of the image that it stands in for.
    await awaitInside('mongodb', ['bash', '-c', ': </dev/tcp/127.0.0.1/27017']);
    await start('migration');
    expect(await exitCodes(JOBS)).toEqual(JOBS.map((name) => [name, '0']));
    await start(...processes);
    for (const name of processes) await awaitHealthy(name);
    expect(await exitCodes(processes)).toEqual(processes.map((name) => [name, '0']));
  });

  it('does what the README says of it', async () => {
    const [, block = ''] = /## Run it in containers\n\n```sh\n([^`]*)```/.exec(README) ?? [];
    const [up = '', ...lines] = block.trim().split('\n');
    expect(up).toBe('docker compose up --build --wait');
    // Docker gives no terminal to what is read by another program; a terminal would mix the answer with what is said about it.
    const docker = `docker() { shift; [ "$1" != run ] || set -- run -T "\${@:2}"; ${PODMAN_COMPOSE.join(' ')} --profile operator "$@"; }`;
    const script = `${docker}\n${lines.join('\n').replaceAll(':8080', `:${PORT}`)}`;
    const said = await command(...environment(), 'bash', '-euo', 'pipefail', '-c', script);
    expect(JSON.parse(said)).toMatchObject({ name: 'Ada' });
  });

  it('carries events between services that have users of their own', async () => {
    const broker = readFileSync(`${await volumeOf('keys-recording-pipeline')}/AMQP_URL`, 'utf8');
    const told = {
      STACK_URL: `http://127.0.0.1:${PORT}`,
      IDENTITY_URL: `http://${await addressOf('identity-and-oauth')}:8080`,
      MEETINGS_URL: `http://${await addressOf('meetings-bot-gateway')}:8080`,
      OPERATOR_KEY_FILE: `${await volumeOf('keys-admin')}/OPERATOR_KEY`,
      AMQP_URL: broker.replace('@rabbitmq:', '@127.0.0.1:'),
      MONGODB_URL: `mongodb://${await addressOf('mongodb')}:27017/?directConnection=true`,
      MAIL_FILES: '/nowhere',
    };
    const words = Object.entries(told).map(([name, value]) => `${name}=${value}`);
    const files = CONFORMANCE.map((name) => `test/conformance/${name}.test.ts`);
    await expect(command('env', ...words, 'npm', 'run', '--silent', 'jest', '--', '-i', ...files)).resolves.toBeDefined();
  });

  it('mails to the mail catcher', async () => {
    const answer = await fetch(`http://127.0.0.1:${PORT}/v1/signup/start`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email: 'grace@company.example' }),
    });
    expect(answer.status).toBe(200);
    const mails = async () => Mails.parse(await (await fetch('http://127.0.0.1:8025/')).json());
    for (const deadline = performance.now() + LIMIT_MS; (await mails()).length === 0 && performance.now() < deadline; ) await pause(100);
    expect((await mails()).map(({ to }) => to)).toEqual([['grace@company.example']]);
  });

  it('gives each service its own secrets alone, and no right to change them', async () => {
    for (const name of processes) {
      const inside = (...words: readonly string[]) => podman('exec', containerOf(name), ...words);
      const listed = (await inside('ls', '/keys')).split('\n');
      const own = PARTS.find((part) => part.name === name)?.variables.map((variable) => variable.name) ?? [];
      expect(listed.filter((file) => !own.includes(file))).toEqual([]);
      await expect(inside('sh', '-c', 'echo other > /keys/SERVICE_KEY')).rejects.toMatchObject({
        stderr: expect.stringContaining('Read-only'),
      });
      expect(await inside('grep', 'CapEff', '/proc/1/status')).toMatch(/^CapEff:\s+0+$/);
    }
  });

  it('keeps its secrets when the jobs run again', async () => {
    const key = async () => readFileSync(`${await volumeOf('keys-signup')}/SEAL_KEYS`, 'utf8');
    const before = await key();
    await podman('start', '--attach', containerOf('keys'));
    expect(await key()).toBe(before);
    await podman('start', '--attach', containerOf('topology'));
    expect(await exitCodes(['keys', 'topology'])).toEqual([
      ['keys', '0'],
      ['topology', '0'],
    ]);
  });

  it('ends in good order', async () => {
    for (const name of processes.toReversed()) await podman('stop', '--time', String(END_LIMIT_S), containerOf(name));
    expect(await exitCodes(processes)).toEqual(processes.map((name) => [name, '0']));
  });
});
