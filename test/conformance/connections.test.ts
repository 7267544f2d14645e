import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { type RawConnection, rawConnection } from '@bubbles/testing/raw-http.ts';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { send } from './support/client.ts';
import { openWorld } from './support/open-world.ts';
import type { Person, World } from './support/world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

const opened: RawConnection[] = [];
afterEach(() => {
  for (const { socket } of opened.splice(0)) socket.resetAndDestroy();
});
const connection = (): RawConnection => {
  const one = rawConnection(world.baseUrl);
  opened.push(one);
  return one;
};
const statuses = (text: string): number[] => [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status));
const pro = async (): Promise<Person> => {
  const person = await world.user();
  await world.team({ name: 'Pro', plan: 'pro', members: [{ user_id: person.id, role: 'admin' }] });
  return person;
};

const HOOK = JSON.stringify({ url: 'https://receiver.example.com/hook', events: ['bubble.ready'] });
interface Asked {
  readonly as?: string;
  readonly body?: string;
  readonly length?: number;
  readonly more?: string;
}
/** The bytes of a request; its body may be shorter than the length that it announces. */
const bytesOf = (line: string, { as, body, length = body?.length, more = '' }: Asked = {}): string => {
  const credential = as === undefined ? '' : `Authorization: Bearer ${as}\r\n`;
  const framing = length === undefined ? '' : `Content-Type: application/json\r\nContent-Length: ${length}\r\n`;
  return `${line} HTTP/1.1\r\nHost: ${new URL(world.baseUrl).host}\r\n${credential}${more}${framing}\r\n${body ?? ''}`;
};

describe('a client that has said all and sends FIN', () => {
  it('[GEN-08] is answered, with and without a body', async () => {
    const person = await pro();
    for (const [bytes, status] of [
      [bytesOf('GET /v1/me', { as: person.pat }), 200],
      [bytesOf('GET /v1/bubbles', { as: person.pat }).repeat(3), 200],
      [bytesOf('POST /v1/webhooks', { as: person.pat, body: HOOK }), 201],
    ] as const) {
      const one = connection();
      one.socket.end(bytes);
      expect(new Set(statuses(await one.received))).toEqual(new Set([status]));
    }
  });

  it('[GEN-08] [GEN-03] is told with the envelope when its request was not whole', async () => {
    const whole = bytesOf('POST /v1/webhooks', { as: 'svc_pat_unknown', body: HOOK });
    const answers = await Promise.all(
      Array.from({ length: Math.floor(whole.length / 7) }, (_, n) => {
        const one = connection();
        one.socket.end(whole.slice(0, 1 + n * 7));
        return one.received;
      }),
    );
    for (const answer of answers) {
      expect([400, 401]).toContain(statuses(answer).at(-1));
      expect(JSON.parse(answer.slice(answer.lastIndexOf('\r\n\r\n') + 4))).toEqual({
        error: { type: expect.any(String), message: expect.any(String) },
      });
    }
  });
});

describe('a kept connection', () => {
  it('[GEN-08] ends with an answer that says so, and never with one that is outside the closed set of errors', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const asked = async () => {
      const sent = request(`${world.baseUrl}/v1/me`, { method: 'OPTIONS', agent });
      sent.end();
      const [answer]: IncomingMessage[] = await once(sent, 'response');
      await answer?.resume().toArray();
      return [answer?.statusCode, answer?.headers.connection];
    };
    for (let n = 1; n <= 1001; n += 1) expect([n, ...(await asked())]).toEqual([n, 204, n === 1000 ? 'close' : 'keep-alive']);
    agent.destroy();
  });
});

describe('beside a caller who takes more than a share', () => {
  const served = async (person: Person) => {
    const began = performance.now();
    const list = await send(world.baseUrl, '/v1/bubbles?limit=100', { as: person.pat });
    const hook = await send(world.baseUrl, '/v1/webhooks', { method: 'POST', as: person.pat, body: HOOK });
    expect([list.status, hook.status]).toEqual([200, 201]);
    return performance.now() - began;
  };

  it('[GEN-14] 115 lists on one connection whose answers nobody reads delay no one', async () => {
    const [greedy, good] = [await pro(), await pro()];
    for (let n = 0; n < 20; n += 1) await world.bubble({ type: 'screen_recording', participant_ids: [greedy.id] });
    const one = connection();
    one.socket.pause();
    one.write(bytesOf('GET /v1/bubbles?limit=100', { as: greedy.pat }).repeat(115));
    for (let turn = 0; turn < 5; turn += 1) expect(await served(good)).toBeLessThan(10_000);
  });

  it('[GEN-14] 256 bodies that are announced and do not come keep no other out', async () => {
    const good = await pro();
    const senders = Array.from({ length: 256 }, connection);
    for (const sender of senders) sender.write(bytesOf('POST /v1/webhooks', { length: 256 * 1024, body: 'little' }));
    for (const sender of senders.slice(0, 3)) expect(statuses(await sender.receivedMatching(/\}\}$/))).toEqual([401]);
    await served(good);
  });
});

describe('a body that comes after its credential has ended', () => {
  const late = async (person: Person, end: () => Promise<unknown>): Promise<string> => {
    const one = connection();
    one.write(bytesOf('POST /v1/webhooks', { as: person.pat, length: HOOK.length, more: 'Expect: 100-continue\r\n' }));
    await one.receivedMatching(/100 Continue/);
    await end();
    one.write(HOOK);
    return one.receivedMatching(/\}\}$/);
  };

  it('[AUTH-04] is refused when its key was revoked meanwhile', async () => {
    const person = await pro();
    const { json } = await send(world.baseUrl, '/v1/api-keys', { as: person.session_token });
    const text = await late(person, () =>
      send(world.baseUrl, `/v1/api-keys/${json.data[0].id}`, { method: 'DELETE', as: person.session_token }),
    );
    expect(text).toMatch(/HTTP\/1\.1 401 [\s\S]*"token_revoked"/);
  });

  it('[AUTH-05] is refused when its account was disabled meanwhile', async () => {
    const person = await pro();
    expect(await late(person, () => world.setState(person.id, 'disabled'))).toMatch(/HTTP\/1\.1 401 [\s\S]*"account_deleted"/);
  });
});

describe('an account with many memberships', () => {
  it('[GEN-14] reads what it may, as others do', async () => {
    const person = await pro();
    for (let n = 0; n < 200; n += 1)
      await world.team({ name: `Team ${n}`, plan: 'free', members: [{ user_id: person.id, role: 'guest', hidden: n % 2 === 0 }] });
    const bubble = await world.bubble({ type: 'screen_recording', participant_ids: [person.id] });
    for (const path of ['/v1/bubbles', `/v1/bubbles/${bubble.id}`, '/v1/webhooks', '/v1/teams'])
      expect([path, (await send(world.baseUrl, path, { as: person.pat })).status]).toEqual([path, 200]);
  });
});

describe('what is well-formed', () => {
  it.each(['bubbles_gateway:8080', 'api.example.com.', 'api.example.com:', '[::1]:80'])('[GEN-08] Host %s is taken', async (host) => {
    const one = connection();
    one.write(`GET /v1/me HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    expect(statuses(await one.received)).toEqual([401]);
  });

  it.each(['application/json;', 'application/json; charset=utf8'])('[GEN-07] Content-Type %s is taken', async (type) => {
    const person = await pro();
    const answer = await send(world.baseUrl, '/v1/webhooks', {
      method: 'POST',
      as: person.pat,
      body: HOOK,
      headers: { 'content-type': type },
    });
    expect(answer.status).toBe(201);
  });

  it('[GEN-08] a hundred header lines are', async () => {
    const person = await pro();
    const one = connection();
    one.write(bytesOf('GET /v1/bubbles', { as: person.pat, more: `Connection: close\r\n${'X-A: b\r\n'.repeat(97)}` }));
    expect(statuses(await one.received)).toEqual([200]);
  });
});
