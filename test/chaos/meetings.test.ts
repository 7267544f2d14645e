import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type FakeAttendee, startFakeAttendee } from '../../services/meetings-bot-gateway/test/attendee-server.ts';
import { MEETING } from '../../services/meetings-bot-gateway/test/gateway.ts';
import type { MeetingsSettings, MeetingsTask } from './support/meetings-process.ts';
import { scaled } from './support/scale.ts';

const MODULE = new URL('support/meetings-process.ts', import.meta.url).pathname;
const KEY = 'k3y';
const SECRET = Buffer.alloc(32, 7);
const START = Date.parse('2026-03-02T12:00:00.000Z');
const KILLS = scaled({ short: 3, long: 20 });
const LEASE_SECONDS = 61;
const FILE_BYTES = 16 * 1024 * 1024;
const BETWEEN_KILLS_MS = 10;

interface Answer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads the fields that it asserts.
  readonly body: any;
}

let folder: string;
let attendee: FakeAttendee;
let line: Awaited<ReturnType<typeof openLine>>;
let child: ChildProcess | null;
let seconds: number;

/** Between the gateway and the provider: while it is held, what is asked is done and not answered. */
const openLine = async (target: string) => {
  const state: { held: 'dispatches' | 'all' | 'files' | null; isCut: boolean } = { held: null, isCut: false };
  const done = new EventTarget();
  /** A file comes this far when files are held. */
  const HALF = 0.5;
  const relayFile = async (url: string, response: ServerResponse): Promise<void> => {
    const file = Buffer.from(await (await fetch(`${target}${url}`)).arrayBuffer());
    response.writeHead(200, { 'content-type': 'video/mp4', 'content-length': file.length });
    const isHeld = state.held === 'files';
    response.write(file.subarray(0, file.length * HALF), () => done.dispatchEvent(new Event('held')));
    if (!isHeld) response.end(file.subarray(file.length * HALF));
  };
  const relay = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (state.isCut) return void response.destroy();
    const { method = 'GET', url = '', headers } = request;
    if (url.startsWith('/storage/')) return relayFile(url, response);
    const body = await buffer(request);
    const answer = await fetch(`${target}${url}`, {
      method,
      headers: { authorization: headers.authorization ?? '', 'content-type': 'application/json' },
      ...(body.length > 0 && { body }),
    });
    const text = (await answer.text()).replaceAll(`${target}/storage/`, `http://${headers.host}/storage/`);
    const isHeld = state.held === 'all' || (state.held === 'dispatches' && method === 'POST');
    if (isHeld) return void done.dispatchEvent(new Event('held'));
    response.writeHead(answer.status, { 'content-type': 'application/json' });
    response.end(text);
  };
  // Whoever asked may be killed before the request has come whole.
  const server = createServer((request, response) => void relay(request, response).catch(() => response.destroy()));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  // The address of a server that listens on a port.
  const { port } = server.address() as AddressInfo;
  return {
    state,
    url: `http://127.0.0.1:${port}`,
    /** Resolves when the next answer is held back, or half of a file has been sent. */
    holding: () => once(done, 'held'),
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};

const start = async (): Promise<void> => {
  child = spawn(process.execPath, [MODULE], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const settings: MeetingsSettings = {
    file: join(folder, 'data.db'),
    now: new Date(START + seconds * 1000).toISOString(),
    environment: {
      NOTETAKERS: 'google_meet=attendee',
      MEDIA_FOLDER: join(folder, 'media'),
      MEDIA_ALLOW_CIDRS: '127.0.0.0/8',
      MEDIA_ALLOW_HTTP: '1',
      ATTENDEE_URL: line.url,
      ATTENDEE_API_KEY: KEY,
      ATTENDEE_WEBHOOK_SECRET: SECRET.toString('base64'),
    },
  };
  child.send({ ...settings });
  await once(child, 'message');
};
const kill = async (): Promise<void> => {
  const dying = child;
  if (dying === null) return;
  const gone = once(dying, 'exit');
  dying.kill('SIGKILL');
  await gone;
  child = null;
};

let orders = 0;
/** Null when the process was killed before it answered. */
const ask = (task: MeetingsTask): Promise<Answer | null> => {
  const asked = child;
  if (asked === null) throw new Error('nobody is there');
  const number = orders++;
  asked.send({ number, task });
  const { promise, resolve } = Promise.withResolvers<Answer | null>();
  const end = () => resolve(null);
  const hear = (report: unknown) => {
    // What the process sends.
    const { number: answered, answered: answer } = report as { number: number; answered: Answer | null };
    if (answered === number) resolve(answer);
  };
  asked.on('message', hear).once('exit', end);
  return promise.finally(() => asked.off('message', hear).off('exit', end));
};
const pass = async (passed: number): Promise<void> => {
  seconds += passed;
  await ask({ seconds: passed });
};
const request = () => ask({ method: 'POST', path: '/v1/meetings/join', body: MEETING, idempotencyKey: 'once' });
const statusOf = async (id: string) => (await ask({ method: 'GET', path: `/v1/meetings/join/${id}` }))?.body;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'meetings-'));
  seconds = 0;
  child = null;
  attendee = await startFakeAttendee({ apiKey: KEY, secret: SECRET, now: () => new Date(START + seconds * 1000) });
  line = await openLine(attendee.url);
});
afterEach(async () => {
  await kill();
  await line.stop();
  await attendee.stop();
  rmSync(folder, { recursive: true, force: true });
});

describe('kill -9 of the gateway of meetings', () => {
  it('[MEET-10][MEET-11] between the dispatch of a notetaker and its answer, again and again: one notetaker is sent', async () => {
    await start();
    line.state.held = 'dispatches';
    for (let n = 0; n < KILLS; n += 1) {
      const sent = line.holding();
      const asking = n === 0 ? request() : pass(LEASE_SECONDS);
      await sent;
      await kill();
      await asking;
      // Whoever comes next asks what there is first, and may send nobody.
      line.state.held = 'all';
      await start();
    }
    line.state.held = null;
    await pass(LEASE_SECONDS);
    const again = await request();
    await pass(LEASE_SECONDS);
    expect(again?.status).toBe(201);
    expect(attendee.bots).toHaveLength(1);
    attendee.happen(attendee.ofJoin(again?.body.id), 'joined_meeting', 'joined_not_recording');
    await pass(240);
    expect((await statusOf(again?.body.id)).status).toBe('in_call');
  });

  it('[MEET-10] before a provider that was away for ten minutes is back: its lost notetaker leaves, and no second one is sent', async () => {
    await start();
    line.state.held = 'dispatches';
    const sent = line.holding();
    const asking = request();
    await sent;
    await kill();
    await asking;
    line.state.held = null;
    line.state.isCut = true;
    await start();
    await pass(LEASE_SECONDS);
    const id = String((await request())?.body.id);
    for (let minute = 0; minute < 16; minute += 1) await pass(60);
    expect(await statusOf(id)).toMatchObject({ status: 'fatal', fatal_reason: 'notetaker_unavailable' });
    attendee.happen(attendee.ofJoin(id), 'join_requested', 'joining');
    line.state.isCut = false;
    for (let minute = 0; minute < 6; minute += 1) await pass(60);
    expect(attendee.bots.map(({ state }) => state)).toEqual(['leaving']);
  });

  it('[MEET-09] while a recording is copied, again and again: one file is there, whole, and one bubble', async () => {
    const file = randomBytes(FILE_BYTES);
    await start();
    const { id } = (await request())?.body ?? {};
    await pass(LEASE_SECONDS);
    const bot = attendee.ofJoin(id);
    attendee.happen(bot, 'joined_meeting', 'joined_not_recording');
    attendee.happen(bot, 'recording_permission_granted', 'joined_recording');
    attendee.happen(bot, 'post_processing_completed', 'ended');
    Object.assign(bot, { file, recordingState: 'complete', transcriptionState: 'complete' });
    const keys = new Set<string>();
    const media = join(folder, 'media');
    const unfinished = () =>
      (existsSync(media) ? readdirSync(media, { recursive: true }).map(String) : []).filter((name) => name.startsWith('unfinished/'));
    let killed: string[] = [];
    for (let n = 0; n < 2 * KILLS; n += 1) {
      // Half of the time in the midst of the file, then ever later after all of it was sent.
      line.state.held = n < KILLS ? 'files' : null;
      const half = line.holding();
      const passing = pass(6 * LEASE_SECONDS);
      // What was copied, and not told of yet, is not fetched again.
      await Promise.race([half, passing]);
      // Half of a file may lie in buffers of the system while the gateway has not begun to write.
      while (n < KILLS && !unfinished().some((name) => !killed.includes(name))) await pause(1);
      if (n >= KILLS) await pause((n - KILLS) * BETWEEN_KILLS_MS);
      await kill();
      await passing;
      killed = unfinished();
      if (n < KILLS) expect(killed).toHaveLength(1);
      for (const name of readdirSync(media, { recursive: true })) keys.add(/[0-9a-f]{64}/.exec(String(name))?.[0] ?? '');
      await start();
      const { bubble_id } = (await ask({ method: 'GET', path: `/v1/meetings/join/${id}/events` }))?.body ?? {};
      if (bubble_id !== null) break;
    }
    line.state.held = null;
    await pass(6 * LEASE_SECONDS);
    const { data, bubble_id } = (await ask({ method: 'GET', path: `/v1/meetings/join/${id}/events` }))?.body ?? {};
    expect([data.at(-1).status, bubble_id]).toEqual(['done', expect.any(String)]);
    keys.delete('');
    const [key] = keys;
    expect([keys.size, readdirSync(media).toSorted()]).toEqual([1, [key, 'unfinished']]);
    expect(readdirSync(join(media, 'unfinished'))).toEqual([]);
    expect(
      readFileSync(join(media, String(key)))
        .subarray(-FILE_BYTES)
        .equals(file),
    ).toBe(true);
  });
});
