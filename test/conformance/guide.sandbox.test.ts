import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { FATAL_REASONS } from '@bubbles/contracts/api/meeting-join.ts';
import { holdPort } from '@bubbles/http/wire/listen.ts';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readSandboxConfig } from '../../deploy/sandbox/src/config.ts';
import { type Sandbox, startSandbox } from './support/sandbox-world.ts';

const guideOf = (name: string): string => readFileSync(new URL(`../../docs/${name}.md`, import.meta.url), 'utf8');
const guide = guideOf('webhooks');
const blocksOf = (language: string, text = guide): string[] =>
  text
    .matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))
    .map(([, code = '']) => code)
    .toArray();
const fileOf = (name: string): string => blocksOf('js').find((code) => code.startsWith(`// ${name}\n`)) ?? '';

const API = 'http://localhost:8080';
const PORT = '9000';
/** However the script ends: whoever waits for its output waits for the receiver's too. */
const END_RECEIVER = "trap 'kill $(jobs -p) 2>/dev/null' EXIT";
/** Who tries it goes on when the receiver has printed the recording. The answer of the sandbox before it has no line of its own. */
const SEEN = "until grep -qE 'dlv_\\w+ Team meeting$' printed; do sleep 0.1; done";
const SCRIPT_LIMIT_MS = 120_000;
/** `jq -r .a[0].b`, on machines that have none. */
const JQ = `jq() {
  node -e 'console.log(process.argv[1].slice(1).split(/[.[\\]]+/).reduce((value, key) => value[key], JSON.parse(require("fs").readFileSync(0))))' "$2"
}`;

let sandbox: Sandbox;
let folder: string;
beforeAll(async () => {
  sandbox = await startSandbox();
  folder = mkdtempSync(join(tmpdir(), 'guide-'));
});
afterAll(async () => {
  await sandbox.stop();
  rmSync(folder, { recursive: true });
});

describe('the receiver’s guide, tried on one’s machine', () => {
  it('names the address at which the sandbox listens', () => {
    const { host, port } = readSandboxConfig([], {});
    expect(guide.match(/http:\/\/localhost:\d+/g)).toContain(API);
    expect(API).toBe(`http://${host}:${port}`);
  });

  it('[DLV-03] [DLV-04] its requests and its receiver do what it says', async () => {
    const held = await holdPort({ host: '127.0.0.1', port: 0 });
    const port = String(held.port);
    const here = (text: string) => text.replaceAll(API, sandbox.url).replaceAll(PORT, port);
    for (const name of ['verify.mjs', 'receiver.mjs']) writeFileSync(join(folder, name), here(fileOf(name)));
    const [subscribe = '', recording = '', ...rest] = blocksOf('sh').map(here);
    const listening = `until curl -s localhost:${port}; do sleep 0.1; done`;
    const script = ['exec >printed', END_RECEIVER, JQ, subscribe, listening, recording, SEEN, ...rest].join('\n');
    await promisify(execFile)('bash', ['-c', script], { cwd: folder, timeout: SCRIPT_LIMIT_MS }).finally(held.release);
    const printed = readFileSync(join(folder, 'printed'), 'utf8');
    const { data } = JSON.parse(printed.slice(printed.lastIndexOf('{"data"')));
    expect(data).toMatchObject([
      { status: 'exhausted', attempts: Array.from({ length: 5 }, () => ({ outcome: 'connect' })) },
      { status: 'succeeded', attempts: [{ status: 204 }] },
    ]);
  });
});

describe('the guide of meetings', () => {
  const meetings = guideOf('meetings');

  it('[MEET-05] says of every reason what to do', () => {
    expect(FATAL_REASONS.filter((reason) => !meetings.includes(`\`${reason}\``))).toEqual([]);
  });

  it('[MEET-01] [MEET-09] [MEET-14] its requests do what it says', async () => {
    const script = [JQ, ...blocksOf('sh', meetings)].join('\n').replaceAll(API, sandbox.url);
    const { stdout } = await promisify(execFile)('bash', ['-c', script], { timeout: SCRIPT_LIMIT_MS });
    const [status, moved, recording, done, events, list] = stdout
      .replaceAll('}{', '}\n{')
      .split('\n')
      .map((line) => JSON.parse(line));
    expect([status, moved, recording, done].map((answer) => answer.status)).toEqual(['dispatched', 'in_waiting_room', 'recording', 'done']);
    expect(events).toMatchObject({ data: expect.any(Array), bubble_id: done.bubble_id });
    expect(list.data).toMatchObject([{ id: done.bubble_id, title: 'Planning' }]);
  });
});

describe('the guide of the API', () => {
  it('[GEN-13] [LIST-06] [API-05] its requests do what it says', async () => {
    const script = [JQ, ...blocksOf('sh', guideOf('api'))].join('\n').replaceAll(API, sandbox.url);
    const { stdout } = await promisify(execFile)('bash', ['-c', script], { cwd: folder, timeout: SCRIPT_LIMIT_MS });
    const [, me = '', rest = ''] = /^(\{.*?\})(\{.*\}.*)$/s.exec(stdout) ?? [];
    expect(JSON.parse(me)).toMatchObject({ email: expect.any(String) });
    const [page = '', first, again] = rest.replace('}201', '}\n201').trim().split('\n');
    expect(JSON.parse(page).data).toHaveLength(2);
    expect([first?.trim(), again]).toEqual(['201', '201 true']);
    const [file = ''] = readdirSync(folder).filter((name) => name.endsWith('.srt'));
    expect(readFileSync(join(folder, file), 'utf8')).toMatch(/^1\n00:00:00,\d{3} --> /);
  });
});
