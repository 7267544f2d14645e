import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { send } from './support/client.ts';
import { type Receiver, startReceiver } from './support/receiver.ts';
import { control, type Sandbox, type Seeded, startSandbox } from './support/sandbox-world.ts';

/** What waits for a receiver that hangs takes 15 s at least; the rest a busy machine may take. */
const WITHOUT_WAITING_MS = 14_000;

let folder: string;
let sandbox: Sandbox;
let receiver: Receiver;
let seeded: Seeded;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sandbox-'));
  receiver = await startReceiver();
  receiver.answer(() => undefined);
  sandbox = await startSandbox(['--data', folder]);
  seeded = await control(sandbox.url, 'GET /world');
  const body = { url: receiver.url, events: ['bubble.ready'] };
  await send(sandbox.url, '/v1/webhooks', { method: 'POST', as: seeded.users.ada.pat, body });
  await control(sandbox.url, 'POST /bubbles', { type: 'custom_image', participant_ids: [seeded.users.ada.id] });
  await receiver.reached(1);
});
afterEach(async () => {
  await sandbox.stop('SIGKILL');
  await receiver.close();
  rmSync(folder, { recursive: true, force: true });
});

const within = async (work: () => Promise<unknown>): Promise<void> => {
  const startedAt = performance.now();
  await work();
  expect(performance.now() - startedAt).toBeLessThan(WITHOUT_WAITING_MS);
};
const call = (line: string, body?: unknown) => control(sandbox.url, line, body);
const deliveryIds = () => receiver.received.map(({ headers }) => headers['x-service-delivery']);

describe('a receiver that hangs', () => {
  it('[DLV-06] is not waited for by calls that change the world', async () => {
    const { ada, eve } = seeded.users;
    await within(async () => {
      const { id } = await call('POST /bubbles', { type: 'custom_image', title: 'Soon', participant_ids: [ada.id] });
      await call(`POST /bubbles/${id}/comments`, { author_id: ada.id });
      await call(`PATCH /bubbles/${id}`, { title: 'Sooner' });
      await call(`PATCH /users/${eve.id}`, { name: 'Eve' });
      await call(`PATCH /teams/${seeded.teams.acme.id}`, { name: 'Acme Corp' });
      expect((await send(sandbox.url, `/v1/bubbles/${id}`, { as: ada.pat })).json).toMatchObject({ title: 'Sooner', comment_count: 1 });
      await receiver.reached(2);
    });
  });

  it('[DLV-06] is not waited for when its service is taken down, and is tried again under the same id', async () => {
    await within(() => call('POST /services/webhooks-dispatcher', { state: 'down' }));
    receiver.answer(200);
    await call('POST /services/webhooks-dispatcher', { state: 'up' });
    await call('POST /clock', { advance_seconds: 60 });
    expect(deliveryIds()).toEqual([deliveryIds()[0], deliveryIds()[0]]);
    const [subscription] = (await send(sandbox.url, '/v1/webhooks', { as: seeded.users.ada.pat })).json.data;
    expect(subscription).toMatchObject({ last_success_at: expect.any(String), last_failure_at: null });
  });

  it('[DLV-06] is not waited for by a reset', async () => {
    await within(() => call('POST /reset'));
    await call('POST /settle');
    expect(receiver.received).toHaveLength(1);
  });

  it('[DLV-05] does not keep the sandbox from ending, and gets its delivery from the next', async () => {
    sandbox.process.kill('SIGTERM');
    await within(async () => expect(await once(sandbox.process, 'exit')).toEqual([0, null]));
    expect(sandbox.errors()).toBe('');
    receiver.answer(200);
    sandbox = await startSandbox(['--data', folder]);
    await call('POST /clock', { advance_seconds: 60 });
    expect(deliveryIds()).toEqual([deliveryIds()[0], deliveryIds()[0]]);
  });

  it('[DLV-05] is waited for by settle and by the clock, which attempt all that fell due', async () => {
    const startedAt = performance.now();
    expect(await call('POST /settle')).toEqual({ settled: true });
    await call('POST /clock', { advance_seconds: 60 });
    expect(performance.now() - startedAt).toBeGreaterThan(15_000);
    expect(deliveryIds()).toEqual([deliveryIds()[0], deliveryIds()[0]]);
    const [{ id }] = (await send(sandbox.url, '/v1/webhooks', { as: seeded.users.ada.pat })).json.data;
    const [delivery] = (await send(sandbox.url, `/v1/webhooks/${id}/deliveries`, { as: seeded.users.ada.pat })).json.data;
    expect(delivery.attempts).toMatchObject([{ outcome: 'timeout' }, { outcome: 'timeout' }]);
  });
});
