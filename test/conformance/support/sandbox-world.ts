import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Person, TeamScene, World } from './world.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const LISTENING = 'Listening on ';

export interface Sandbox {
  readonly url: string;
  readonly process: ChildProcess;
  /** Everything it has written to standard output. */
  output(): string;
  /** Everything it has written to standard error. */
  errors(): string;
  stop(signal?: NodeJS.Signals): Promise<void>;
}

/** The world that everybody starts from. */
export interface Seeded {
  readonly base_url: string;
  readonly now: string;
  readonly users: Readonly<Record<'ada' | 'ben' | 'gus' | 'fay' | 'eve', Person>>;
  readonly teams: Readonly<Record<'acme' | 'flea', TeamScene>>;
  readonly bubbles: Readonly<Record<string, { readonly id: string; readonly short_id: string; readonly type: string }>>;
}

/** Starts the sandbox as a newcomer does, on a free port. */
export async function startSandbox(
  args: readonly string[] = ['--data', ':memory:'],
  env: Readonly<Record<string, string>> = {},
): Promise<Sandbox> {
  const child = spawn(process.execPath, ['deploy/sandbox/src/main.ts', ...args], {
    cwd: ROOT,
    env: { PATH: process.env['PATH'] ?? '', PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const errors: string[] = [];
  const lines: string[] = [];
  // Heard from its start. At its exit what it said last may still be in its pipes.
  const closed = once(child, 'close');
  child.stderr.on('data', (chunk) => errors.push(String(chunk)));
  const url = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      lines.push(line);
      if (line.startsWith(LISTENING)) resolve(line.slice(LISTENING.length));
    });
    void closed.then(([code]) => reject(new Error(`the sandbox ended with ${code}: ${errors.join('')}`)));
  });
  return {
    url,
    process: child,
    output: () => lines.join('\n'),
    errors: () => errors.join(''),
    async stop(signal = 'SIGTERM') {
      child.kill(signal);
      await closed;
    },
  };
}

/** A call of the control plane; rejects with the answer's body when it is not 200. */
export async function control(baseUrl: string, call: string, body?: unknown) {
  const [method = '', path = ''] = call.split(' ');
  const response = await fetch(`${baseUrl}/_sandbox${path}`, {
    method,
    ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${call}: ${response.status} ${text}`);
  return JSON.parse(text);
}

/** The scene as the control plane of the sandbox at `baseUrl` sets it. */
export function worldAt(baseUrl: string, close: () => Promise<void>): World {
  const call = (method: string, path: string, body?: unknown) => control(baseUrl, `${method} ${path}`, body);
  return {
    baseUrl,
    user: (fields = {}) => call('POST', '/users', fields),
    changeUser: (id, fields) => call('PATCH', `/users/${id}`, fields),
    setState: (id, state) => call('POST', `/users/${id}/state`, { state }),
    oauthToken: (userId, fields = {}) => call('POST', '/oauth-tokens', { user_id: userId, ...fields }),
    team: (fields) => call('POST', '/teams', fields),
    changeTeam: (id, fields) => call('PATCH', `/teams/${id}`, fields),
    setMember: (teamId, userId, membership) => call('PUT', `/teams/${teamId}/members/${userId}`, membership),
    endMember: (teamId, userId) => call('DELETE', `/teams/${teamId}/members/${userId}`),
    bubble: (fields) => call('POST', '/bubbles', fields),
    changeBubble: (id, fields) => call('PATCH', `/bubbles/${id}`, fields),
    moveBubble: (id, fields) => call('POST', `/bubbles/${id}/stage`, fields),
    removeBubble: (id) => call('DELETE', `/bubbles/${id}`),
    comment: (bubbleId, fields) => call('POST', `/bubbles/${bubbleId}/comments`, fields),
    notetakers: () => call('GET', '/notetakers'),
    notetaker: (joinId, fields) => call('POST', `/notetakers/${joinId}`, fields),
    mails: (to) => call('GET', `/mailbox?${new URLSearchParams({ to })}`),
    close,
  };
}

/** The same scene, whose calls answer when what became due to receivers has been attempted too. */
export function deliveringWorld(world: World): World {
  const delivering =
    <A extends readonly unknown[], R>(set: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      const done = await set(...args);
      await control(world.baseUrl, 'POST /settle');
      return done;
    };
  return {
    ...world,
    setState: delivering(world.setState),
    changeTeam: delivering(world.changeTeam),
    setMember: delivering(world.setMember),
    endMember: delivering(world.endMember),
    bubble: delivering(world.bubble),
    changeBubble: delivering(world.changeBubble),
    moveBubble: delivering(world.moveBubble),
    removeBubble: delivering(world.removeBubble),
  };
}

export async function sandboxWorld(): Promise<World> {
  const given = process.env['SANDBOX_URL'];
  const sandbox = given === undefined ? await startSandbox() : null;
  return worldAt(sandbox?.url ?? given ?? '', async () => sandbox?.stop());
}
