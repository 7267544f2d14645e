import { describe, expect, it } from '@jest/globals';
import { wasCut, wasRefused } from './transport-errors.ts';

const failure = (fields: object): Error => Object.assign(new Error('the other side went'), fields);

describe('how a connection failed', () => {
  it.each([
    [{ code: 'ECONNREFUSED', syscall: 'connect' }],
    [{ code: 'EHOSTUNREACH', syscall: 'connect' }],
    [{ code: 'ENOTFOUND', syscall: 'getaddrinfo' }],
    [{ code: 'ECONNRESET', syscall: 'connect' }],
  ])('[ERR-05] %o: nothing was sent', (fields) => {
    expect([wasRefused(failure(fields)), wasCut(failure(fields))]).toEqual([true, false]);
  });

  it.each([[{ code: 'ECONNRESET', syscall: 'read' }], [{ code: 'EPIPE', syscall: 'write' }], [{ code: 'UND_ERR_SOCKET' }]])(
    '[ERR-05] %o: something may have been sent',
    (fields) => {
      expect([wasRefused(failure(fields)), wasCut(failure(fields))]).toEqual([false, true]);
    },
  );

  it.each([[failure({ code: 'UND_ERR_CONNECT_TIMEOUT' })], [failure({})], [null]])('[ERR-05] %o is neither', (error) => {
    expect([wasRefused(error), wasCut(error)]).toEqual([false, false]);
  });
});
