import { describe, expect, it } from '@jest/globals';
import { failureOf } from './address.ts';

const failure = (fields: object): Error => Object.assign(new Error('the other side went'), fields);

describe('how a connection failed', () => {
  it.each([
    [{ code: 'ECONNREFUSED', syscall: 'connect' }],
    [{ code: 'EHOSTUNREACH', syscall: 'connect' }],
    [{ code: 'ENOTFOUND', syscall: 'getaddrinfo' }],
    [{ code: 'ECONNRESET', syscall: 'connect' }],
  ])('[ERR-05] %o: nothing was sent', (fields) => {
    expect(failureOf(failure(fields))).toBe('refused');
  });

  it.each([[{ code: 'ECONNRESET', syscall: 'read' }], [{ code: 'EPIPE', syscall: 'write' }], [{ code: 'UND_ERR_SOCKET' }]])(
    '[ERR-05] %o: something may have been sent',
    (fields) => {
      expect(failureOf(failure(fields))).toBe('cut');
    },
  );

  it.each([[{ code: 'UND_ERR_HEADERS_OVERFLOW' }], [{ name: 'HTTPParserError' }]])('[ERR-05] %o: it was answered', (fields) => {
    expect(failureOf(failure(fields))).toBe('unreadable');
  });

  it('[ERR-05] what could not be sent says nothing of the other side', () => {
    expect(failureOf(failure({ code: 'UND_ERR_INVALID_ARG' }))).toBe('abandoned');
  });

  it.each([[failure({ code: 'UND_ERR_CONNECT_TIMEOUT' })], [failure({})], [null]])('[ERR-05] %o is neither', (error) => {
    expect(failureOf(error)).toBe('failed');
  });
});
