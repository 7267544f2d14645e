import { describe, expect, it } from '@jest/globals';
import { AT, anAccount } from '../../test/builders.ts';
import { addressOf, checkedAddress, domainsOf, isAbandoned, isOlder } from './address.ts';

describe('the address of an account', () => {
  it('a profile without one has none, and one that is to be written has to be one', () => {
    expect([addressOf({ email: null }), checkedAddress(null), addressOf({ email: 'no address' })]).toEqual([null, null, null]);
    expect(() => checkedAddress('no address')).toThrow('email: must be an e-mail address');
  });
});

describe('the domains of an address', () => {
  it.each([
    ['ada@acme.test', 'acme.test', ['acme.test']],
    ['ada@mail.eng.acme.test', 'acme.test', ['mail.eng.acme.test', 'eng.acme.test', 'acme.test']],
    ['ada@eng.acme.test', null, []],
  ])('[SIGN-04] of %s below %s', (address, common, domains) => {
    expect(domainsOf(address, common)).toEqual(domains);
  });
});

describe('an address that was taken', () => {
  const taken = { address: 'ada@acme.test', accountId: 'user-1', takenAt: AT, version: 1 };
  const soon = new Date(AT.getTime() + 59_999);
  const later = new Date(AT.getTime() + 60_000);

  it('is abandoned when its account does not have it a minute later', () => {
    expect(isAbandoned(taken, null, soon)).toBe(false);
    expect(isAbandoned(taken, null, later)).toBe(true);
    expect(isAbandoned(taken, anAccount({ email: 'ADA@acme.test' }), later)).toBe(false);
    expect(isAbandoned(taken, anAccount({ email: 'eve@acme.test' }), later)).toBe(true);
    expect(isAbandoned(taken, anAccount({ email: null }), later)).toBe(true);
  });

  it('stays with the older of two accounts', () => {
    const [old, young] = [anAccount({ id: 'b' }), anAccount({ id: 'a', createdAt: later })];
    expect([isOlder(old, young), isOlder(young, old)]).toEqual([true, false]);
    expect([isOlder(anAccount({ id: 'a' }), anAccount({ id: 'b' })), isOlder(old, old)]).toEqual([true, false]);
  });
});
