import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { affinityOf, credentialOf } from './sender.ts';

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
