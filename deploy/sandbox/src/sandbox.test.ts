import { Server } from 'node:net';
import { memoryLog } from '@bubbles/testing/memory-log.ts';
import { afterEach, describe, expect, it } from '@jest/globals';
import { readSandboxConfig } from './config.ts';
import { type Sandbox, startSandbox } from './sandbox.ts';

let sandbox: Sandbox | null = null;
afterEach(async () => {
  await sandbox?.stop();
  sandbox = null;
});

/** Node lists what keeps its process alive; it is in no type. */
const handles = process as unknown as { _getActiveHandles(): readonly unknown[] };
const listeningPorts = (): ReadonlySet<number> =>
  new Set(
    handles._getActiveHandles().flatMap((handle) => {
      const address = handle instanceof Server && handle.listening ? handle.address() : null;
      return address === null || typeof address === 'string' ? [] : [address.port];
    }),
  );

describe('the sandbox', () => {
  it('[HOOK-10] takes none of its own listeners as a receiver, neither the public one nor those between its services', async () => {
    const others = listeningPorts();
    const started = await startSandbox(readSandboxConfig(['--data', ':memory:'], { PORT: '0' }), () => memoryLog());
    sandbox = started;
    const ports = [...listeningPorts().difference(others)];
    expect(ports).toContain(Number(new URL(started.url).port));
    expect(ports.length).toBeGreaterThanOrEqual(4);
    const authorization = `Bearer ${started.world().users['ada']?.pat}`;
    const subscribe = (url: string) =>
      fetch(`${started.url}/v1/webhooks`, {
        method: 'POST',
        headers: { authorization, 'content-type': 'application/json' },
        body: JSON.stringify({ url, events: ['bubble.ready'] }),
      });
    for (const port of ports)
      for (const host of ['localhost', '127.0.0.1', '[::1]']) {
        const answer = await subscribe(`http://${host}:${port}/v1/webhooks`);
        expect([host, port, answer.status, await answer.json()]).toMatchObject([
          host,
          port,
          400,
          { error: { message: 'url: must not be an address of this service itself.' } },
        ]);
      }
  });
});
