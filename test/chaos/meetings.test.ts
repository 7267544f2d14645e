import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
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
  const state: { held: 'dispatches' | 'all' | null; isCut: boolean } = { held: null, isCut: false };
  const done = new EventTarget();
  const relay = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (state.isCut) return void response.destroy();
    const { method = 'GET', url = '', headers } = request;
    const body = await buffer(request);
    const answer = await fetch(`${target}${url}`, {
      method,
      headers: { authorization: headers.authorization ?? '', 'content-type': 'application/json' },
      ...(body.length > 0 && { body }),
    });
    const text = await answer.text();
    const isHeld = state.held === 'all' || (state.held === 'dispatches' && method === 'POST');
    if (isHeld) return void done.dispatchEvent(new Event('held'));
    response.writeHead(answer.status, { 'content-type': 'application/json' });
    response.end(text);
  };
  const server = createServer((request, response) => void relay(request, response));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  // The address of a server that listens on a port.
  const { port } = server.address() as AddressInfo;
  return {
    state,
    url: `http://127.0.0.1:${port}`,
    /** Resolves when the next answer is held back. */
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
    for (let minute = 0; minute < 12; minute += 1) await pass(60);
    expect(await statusOf(id)).toMatchObject({ status: 'fatal', fatal_reason: 'notetaker_unavailable' });
    attendee.happen(attendee.ofJoin(id), 'join_requested', 'joining');
    line.state.isCut = false;
    for (let minute = 0; minute < 6; minute += 1) await pass(60);
    expect(attendee.bots.map(({ state }) => state)).toEqual(['leaving']);
  });
});
