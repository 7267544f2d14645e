import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { SERVICE_LIMITS, startServer } from '@bubbles/http/wire/server.ts';
import { keyedMutex } from '@bubbles/kernel/concurrency.ts';
import { systemIds } from '@bubbles/kernel/ids.ts';
import { fakeClock } from '@bubbles/testing/fake-clock.ts';
import { memoryLog } from '@bubbles/testing/memory-log.ts';
import { describe, expect, it } from '@jest/globals';
import { controlApp } from './control-app.ts';
import type { SandboxControl } from './routes.ts';

/** The first byte of a request must come within it, also on a slow machine. */
const IDLE_MS = 500;
const LONG_MS = 3 * IDLE_MS;
const NOW = new Date('2026-03-01T12:00:00.000Z');
const nothing = () => Promise.resolve();
const unasked = (): never => {
  throw new Error('is not asked for');
};

const CONTROL: SandboxControl = {
  lock: keyedMutex(),
  actions: unasked,
  world: unasked,
  baseUrl: () => '',
  now: () => NOW,
  mails: () => Promise.resolve([]),
  settle: nothing,
  advance: () => delay(LONG_MS, NOW),
  reset: nothing,
  setService: nothing,
};

describe('the control plane', () => {
  it('answers a step of the clock that takes longer than a connection may be idle', async () => {
    const ids = systemIds();
    const serve = controlApp(CONTROL, { callers: { hosts: [], remote: false }, log: memoryLog(), clock: fakeClock(NOW), ids });
    const server = await startServer({
      handler: serve((_req, res) => void res.writeHead(404).end()),
      address: { host: '127.0.0.1', port: 0 },
      limits: { ...SERVICE_LIMITS, idleTimeoutMs: IDLE_MS },
      ids,
    });
    try {
      const body = JSON.stringify({ advance_seconds: 1000 });
      const response = await fetch(`${server.url}/_sandbox/clock`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
      });
      expect([response.status, await response.json()]).toEqual([200, { now: NOW.toISOString() }]);
    } finally {
      await server.cut();
    }
  });

  it.each([
    ['a Host that is malformed', '/_sandbox/world', 'Host: user@localhost'],
    ['no Host', '/_sandbox/world', 'X-Host: localhost'],
    ['a dot segment', '/_sandbox/../v1/me', 'Host: localhost'],
    ['an empty segment', '/_sandbox//docs', 'Host: localhost'],
    ['a transfer coding that is unknown', '/_sandbox/docs', 'Host: localhost\r\nTransfer-Encoding: gzip, chunked'],
  ])('leaves to the gateway to refuse a request with %s', async (_, target, headers) => {
    const ids = systemIds();
    const serve = controlApp(CONTROL, { callers: { hosts: [], remote: false }, log: memoryLog(), clock: fakeClock(NOW), ids });
    const server = await startServer({
      handler: serve((_req, res) => void res.writeHead(418).end()),
      address: { host: '127.0.0.1', port: 0 },
      limits: SERVICE_LIMITS,
      ids,
    });
    try {
      const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
      socket.write(`GET ${target} HTTP/1.0\r\n${headers}\r\n\r\n`);
      expect(await text(socket)).toMatch(/^HTTP\/1\.1 418 /);
    } finally {
      await server.cut();
    }
  });
});
