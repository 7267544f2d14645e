import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import { type CallerRules, callerRefusal } from './callers.ts';

const RULES: CallerRules = { hosts: ['dev-box'], remote: false };
const from = (remoteAddress: string, localAddress: string, headers: Readonly<Record<string, string>>) =>
  // What is read of a request.
  ({ socket: { remoteAddress, localAddress }, headers }) as unknown as IncomingMessage;
const mayCall = (req: IncomingMessage, rules = RULES): boolean => callerRefusal(req, rules) === null;

describe('who may call the control plane', () => {
  it.each(['127.0.0.1', '127.8.8.8', '::1', '::ffff:127.0.0.1', '192.168.1.5', 'fe80::1%eth0'])('%s may, which is this machine', (peer) => {
    expect(mayCall(from(peer, peer, { host: 'localhost:8080' }))).toBe(true);
  });

  it.each(['192.168.1.6', '10.0.0.1', '::ffff:10.0.0.1', 'fe80::2', '', '2001:db8::1'])('%s may not unless others may', (peer) => {
    const request = from(peer, '192.168.1.5', { host: 'localhost:8080' });
    expect(mayCall(request)).toBe(false);
    expect(mayCall(request, { ...RULES, remote: true })).toBe(true);
  });

  it.each([
    ['192.168.1.5', '192.168.1.5:8080', true],
    ['::ffff:192.168.1.5', '192.168.1.5', true],
    ['fd00::5', '[FD00::5]:8080', true],
    ['192.168.1.5', 'dev-box', true],
    ['192.168.1.5', '192.168.1.7', false],
    ['192.168.1.5', 'page.example.com', false],
    ['192.168.1.5', '', false],
  ])('at %s under the host %j: %s', (at, host, expected) => {
    expect(mayCall(from(at, at, { host }))).toBe(expected);
  });
});
