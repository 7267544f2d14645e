import { describe, expect, it } from '@jest/globals';
import { detailOfRedirect, outcomeOfFault } from './faults.ts';

const FROM = new URL('https://user:pw@hooks.example.com/in?token=s3cret');

describe('what the log says of an attempt without success', () => {
  it.each([
    ['tls', 'CERT_HAS_EXPIRED', 'The certificate has expired. (CERT_HAS_EXPIRED)'],
    ['tls', 'ERR_TLS_CERT_ALTNAME_INVALID', 'The certificate is for another name. (ERR_TLS_CERT_ALTNAME_INVALID)'],
    ['tls', 'DEPTH_ZERO_SELF_SIGNED_CERT', 'The certificate is self-signed. (DEPTH_ZERO_SELF_SIGNED_CERT)'],
    ['tls', 'EPROTO', 'The TLS handshake failed. (EPROTO)'],
    ['dns', 'ENOTFOUND', 'The name has no address.'],
    ['dns', 'EAI_AGAIN', 'The name servers of the name gave no answer.'],
    ['connect', 'ECONNREFUSED', 'The connection was refused.'],
    ['connect', 'EHOSTUNREACH', 'The address cannot be reached.'],
    ['reset', 'ECONNRESET', 'The connection broke before an answer came.'],
    ['blocked_address', 'BLOCKED_ADDRESS', 'The receiver has no public address.'],
    ['protocol', 'HPE_INVALID_CONSTANT', 'The answer is not valid HTTP. (HPE_INVALID_CONSTANT)'],
    ['protocol', 'what 10.0.0.1 said', 'The answer is not valid HTTP.'],
  ] as const)('[HOOK-09] %s %s', (outcome, code, detail) => {
    expect(outcomeOfFault({ code }, true)).toEqual({ outcome, detail });
  });

  it('[HOOK-09] an answer of 101 is no broken connection', () => {
    const upgrade = Object.assign(new Error('bad upgrade'), { code: 'UND_ERR_SOCKET' });
    const detail = 'The receiver switched protocols (101) in place of an answer.';
    expect(outcomeOfFault(upgrade, true)).toEqual({ outcome: 'protocol', detail });
  });

  it('a timeout says whether there was a connection', () => {
    const aborted = { code: 'ABORT_ERR' };
    expect(outcomeOfFault(aborted, true)).toEqual({ outcome: 'timeout', detail: 'No answer came in time.' });
    expect(outcomeOfFault(aborted, false)).toEqual({ outcome: 'timeout', detail: 'No connection was made in time.' });
  });

  it.each([
    ['/login?next=s3cret#s3cret', 'https://hooks.example.com/login'],
    ['https://s3cret:s3cret@other.example/a%20b?s3cret', 'https://other.example/a%20b'],
    [`https://other.example/${'x'.repeat(500)}`, `https://other.example/${'x'.repeat(178)}`],
  ])('[GEN-10] a redirect to %s says where it leads and no more', (location, target) => {
    expect(detailOfRedirect(location, FROM)).toBe(`Redirects are not followed: it leads to ${target}`);
  });

  it.each([null, 'javascript:alert(1)', 'https://', ''.padEnd(3, '\\')])('a redirect to %j says that it is none to follow', (location) => {
    expect(detailOfRedirect(location, FROM)).toMatch(/^Redirects are not followed/);
    expect(detailOfRedirect(location, FROM)).not.toContain('s3cret');
  });
});
