import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { send, walk } from '../conformance/support/client.ts';
import { control, type Sandbox, startSandbox } from '../conformance/support/sandbox-world.ts';
import { type HookReceiver, hookReceiver } from './support/hook-receiver.ts';
import { report, scaled } from './support/scale.ts';
import { untilSo, within } from './support/within.ts';

const ROUNDS = scaled({ short: 5, long: 50 });
const CALLERS = 6;
/** Somewhere within the work of a round, once it has begun; another place each time. */
const killAfterMs = (round: number): number => (round * 137) % 900;

interface Answered {
  readonly bubbles: string[];
  readonly comments: { readonly id: string; readonly bubbleId: string }[];
  readonly users: { readonly id: string; readonly pat: string }[];
  readonly keys: string[];
}

let folder: string;
let receiver: HookReceiver;
let sandbox: Sandbox;
let ada: { readonly id: string; readonly pat: string; readonly session_token: string };
let lastCut = 'no call was cut';
const answered: Answered = { bubbles: [], comments: [], users: [], keys: [] };

const start = async () => {
  sandbox = await startSandbox(['--data', folder]);
};

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sandbox-'));
  receiver = await hookReceiver();
  await start();
  ada = (await control(sandbox.url, 'GET /world')).users.ada;
  const made = await send(sandbox.url, '/v1/webhooks', {
    method: 'POST',
    as: ada.pat,
    body: { url: receiver.url, events: ['bubble.ready'] },
  });
  expect(made.status).toBe(201);
});

afterAll(async () => {
  await sandbox?.stop('SIGKILL');
  await receiver?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** One caller's work: what it was told is done is written down; a call that was cut is nobody's promise. */
const work = async (): Promise<void> => {
  const { id } = await control(sandbox.url, 'POST /bubbles', { type: 'screen_recording', participant_ids: [ada.id] });
  answered.bubbles.push(id);
  const comment = await control(sandbox.url, `POST /bubbles/${id}/comments`, { author_id: ada.id });
  answered.comments.push({ id: comment.id, bubbleId: id });
  answered.users.push(await control(sandbox.url, 'POST /users', {}));
};

/** Makes and revokes, so that the cap is never met. */
const turnKeys = async (): Promise<void> => {
  const made = await send(sandbox.url, '/v1/api-keys', { method: 'POST', as: ada.session_token, body: { name: 'chaos' } });
  if (made.status !== 201) return;
  const gone = await send(sandbox.url, `/v1/api-keys/${made.json.id}`, { method: 'DELETE', as: ada.session_token });
  if (gone.status === 204) answered.keys.push(made.json.token);
};

/** Again and again until the sandbox is gone. */
const untilCut = async (act: () => Promise<void>): Promise<void> => {
  for (const own = sandbox; own === sandbox && own.process.signalCode === null; ) {
    try {
      await act();
    } catch (error) {
      // Cut short: the process was killed.
      lastCut = String(error);
      await pause(5);
    }
  }
};

/** That this round's work has been answered at all. */
const untilAnswered = (before: number): Promise<void> =>
  untilSo({ what: 'a caller is answered', state: () => [lastCut, sandbox.errors()] }, () => answered.bubbles.length > before);

describe('the sandbox killed at any moment', () => {
  it('[DLV-05] keeps what it answered, and delivers what is ready under one delivery id', async () => {
    const starts: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const before = answered.bubbles.length;
      const callers = [...Array.from({ length: CALLERS }, () => untilCut(work)), untilCut(turnKeys)];
      await untilAnswered(before);
      await pause(killAfterMs(round));
      await sandbox.stop('SIGKILL');
      await within({ what: 'the callers are cut', state: () => [lastCut] }, () => Promise.all(callers));
      const began = performance.now();
      await within({ what: 'the sandbox starts' }, start);
      starts.push(performance.now() - began);
    }
    await within({ what: 'the sandbox settles', state: () => [sandbox.errors()] }, () => control(sandbox.url, 'POST /settle'));
    await expectKept();
    const ids = Map.groupBy(receiver.arrived, ({ bubbleId }) => bubbleId);
    expect(answered.bubbles.filter((id) => !ids.has(id))).toEqual([]);
    const several = [...ids].filter(([, arrived]) => new Set(arrived.map(({ deliveryId }) => deliveryId)).size !== 1);
    expect(several).toEqual([]);
    report('sandbox killed', {
      times: ROUNDS,
      answered: Object.values(answered).flat().length,
      bubbles: ids.size,
      deliveries: receiver.arrived.length,
      'slowest start ms': starts.reduce((most, ms) => Math.max(most, ms), 0),
    });
    expect(answered.bubbles.length).toBeGreaterThanOrEqual(ROUNDS);
  });

  const expectKept = async () => {
    // Budgets of the rate are the sandbox's own, and its clock is ours.
    const listed = new Set((await walk(sandbox.url, '/v1/bubbles?limit=100', ada.pat)).map(({ id }) => id));
    expect(answered.bubbles.filter((id) => !listed.has(id))).toEqual([]);
    for (const { id, bubbleId } of answered.comments) expect(await commentsOf(bubbleId)).toEqual([id]);
    for (const { id, pat } of answered.users) expect((await send(sandbox.url, '/v1/me', { as: pat })).json.id).toBe(id);
    for (const token of answered.keys) expect((await send(sandbox.url, '/v1/me', { as: token })).json.error?.type).toBe('token_revoked');
  };

  /** After a minute of the sandbox's clock whenever the budget is spent. */
  const commentsOf = async (bubbleId: string): Promise<readonly string[]> => {
    const answer = await send(sandbox.url, `/v1/bubbles/${bubbleId}/comments`, { as: ada.pat });
    if (answer.status !== 429) return answer.json.data.map(({ id }: { id: string }) => id);
    await control(sandbox.url, 'POST /clock', { advance_seconds: 61 });
    return commentsOf(bubbleId);
  };
});
