import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { acceptedRequestId, affinityOf, clientAddress, credentialOf } from './request.ts';

const ours = { has: (address: string) => address.startsWith('10.') || address.startsWith('::ffff:10.') };
const client = (peer: string, list: readonly string[]) => clientAddress({ peer, forwarded: list, proxies: ours });

describe('who calls', () => {
  it.each([
    ['203.0.113.9', ['6.6.6.6'], '203.0.113.9'],
    ['::ffff:203.0.113.9', [], '203.0.113.9'],
    ['10.0.0.1', [], '10.0.0.1'],
    ['10.0.0.1', ['6.6.6.6', '203.0.113.9'], '203.0.113.9'],
    ['::ffff:10.0.0.1', ['6.6.6.6', '203.0.113.9', '10.0.0.2'], '203.0.113.9'],
    ['10.0.0.1', ['10.0.0.3', '10.0.0.2'], '10.0.0.3'],
    ['10.0.0.1', ['203.0.113.9', 'nonsense'], '10.0.0.1'],
    ['10.0.0.1', ['2001:db8::1'], '2001:db8::1'],
  ])('[SIGN-02] %s forwarding for %j stands for %s', (peer, list, expected) => {
    expect(client(peer, list)).toBe(expected);
  });

  it('[GEN-09] an id has 8 to 64 characters of its alphabet', () => {
    for (const id of ['12345678', 'a.b_c-D9', 'x'.repeat(64)]) expect(acceptedRequestId(id)).toBe(id);
    for (const id of [null, '', '1234567', 'x'.repeat(65), 'has blank', 'line\r\nbreak', 'ü2345678'])
      expect(acceptedRequestId(id)).toBeNull();
  });
});

const jwtWith = (payload: string) => `eyJhbGciOiJFUzI1NiJ9.${Buffer.from(payload).toString('base64url')}.c2ln`;
const affinityOfToken = (token: string) => {
  const credential = credentialOf([`Bearer ${token}`]);
  return credential && affinityOf(credential);
};

describe('credential', () => {
  it('[AUTH-08] of an opaque token goes no further than its hash', () => {
    const digest = createHash('sha256').update('svc_pat_a').digest('hex');
    expect(credentialOf(['Bearer svc_pat_a'])).toEqual({ hash: digest, jwt: null });
  });

  it('[RATE-04] tokens of one grant have one home, others their own', () => {
    expect(affinityOfToken(jwtWith('{"gid":"g1","jti":"1"}'))).toBe(affinityOfToken(jwtWith('{"gid":"g1","jti":"2"}')));
    expect(affinityOfToken(jwtWith('{"gid":"g1"}'))).not.toBe(affinityOfToken(jwtWith('{"gid":"g2"}')));
    expect(affinityOfToken('svc_pat_a')).not.toBe(affinityOfToken('svc_pat_b'));
  });

  it.each(['{"gid":1}', 'null', '[]', 'no json', '{"gid":'])('[AUTH-01] a payload of %s only has a home by its hash', (payload) => {
    const token = jwtWith(payload);
    expect(affinityOfToken(token)).toBe(credentialOf([`Bearer ${token}`])?.hash);
  });
});
