import type { Caller } from '@bubbles/http/routes/route.ts';
import { DomainError } from '@bubbles/kernel/errors.ts';
import type { Account } from '../../domain/account.ts';

/** The account that admission read for a caller, so that its own routes answer without reading it again. */
export interface AdmittedAccounts {
  remember(caller: Caller, account: Account): void;
  of(caller: Caller): Account;
}

export const admittedAccounts = (): AdmittedAccounts => {
  const accounts = new WeakMap<Caller, Account>();
  return {
    remember: (caller, account) => {
      accounts.set(caller, account);
    },
    of: (caller) => {
      const account = accounts.get(caller);
      if (!account) throw new DomainError('internal', 'The caller was not admitted by this service.');
      return account;
    },
  };
};
