import { rawExchange } from '@bubbles/testing/raw-http.ts';
import { expect } from '@jest/globals';
import { type Answer, type Call, send } from '../client.ts';
import type { Sandbox } from '../sandbox-world.ts';
import type { Person, World } from '../world.ts';

/** Where the cases are tried: a sandbox, and people with a whole budget each. */
export interface Lab {
  readonly sandbox: Sandbox;
  readonly world: World;
  call(path: string, options?: Call): Promise<Answer>;
  /** Sends very bytes on a connection of their own; answers all that came. */
  raw(bytes: string | Uint8Array): Promise<string>;
  proUser(): Promise<Person>;
}

/** Tries one case; rejects when the product does otherwise. */
export type Check = (lab: Lab) => Promise<void>;
export type Checks = Readonly<Record<string, Check>>;

export const labOf = (sandbox: Sandbox, world: World): Lab => ({
  sandbox,
  world,
  call: (path, options) => send(sandbox.url, path, options),
  raw: (bytes) => rawExchange(sandbox.url, bytes),
  async proUser() {
    const person = await world.user();
    await world.team({ name: 'Pro', plan: 'pro', members: [{ user_id: person.id, role: 'admin' }] });
    return person;
  },
});

export const UNAUTHORIZED = [401, 'unauthorized'] as const;
export const REFUSED = [400, 'invalid_request'] as const;
export const NOT_FOUND = [404, 'not_found'] as const;

/** The answer is this refusal, in the envelope and in nothing else. */
export function expectRefusal({ status, json }: Answer, [wanted, type]: readonly [number, string]): void {
  expect([status, json?.error?.type]).toEqual([wanted, type]);
  expect(json).toEqual({ error: { type, message: expect.stringMatching(/./) } });
}

export interface RawAnswer {
  readonly status: number;
  readonly head: string;
  readonly body: string;
}

/** The first answer of what came. */
export function readRaw(text: string): RawAnswer {
  const end = text.indexOf('\r\n\r\n');
  const head = text.slice(0, end);
  const length = Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? Number.POSITIVE_INFINITY);
  return { status: Number(head.split(' ')[1]), head, body: text.slice(end + 4, end + 4 + length) };
}

/** A request of which the lines are given; Host and an end are added where they are not. */
export function request(line: string, lines: readonly string[] = [], body = ''): string {
  const host = lines.some((header) => /^host\s*:/i.test(header)) ? [] : ['Host: api.test'];
  return [line, ...host, ...lines, 'Connection: close', '', body].join('\r\n');
}

/** A request of very bytes that is refused with the envelope, and the process lives. */
export async function expectRawRefusal(lab: Lab, bytes: string | Uint8Array, status = 400): Promise<RawAnswer> {
  const answer = readRaw(await lab.raw(bytes));
  expect([answer.status, JSON.parse(answer.body).error.type]).toEqual([
    status,
    { 400: 'invalid_request', 401: 'unauthorized', 404: 'not_found' }[status],
  ]);
  expect((await lab.call('/v1/openapi.json')).status).toBe(200);
  return answer;
}
