import { AccountFacts } from '../internal/accounts.ts';
import { defineEvent } from './define-event.ts';

/** The account in full; the newest revision wins. */
export const AccountChangedV1 = defineEvent('identity.account.changed.v1', AccountFacts, {
  publisher: 'identity-and-oauth',
  consumers: ['bubbles-query'],
});
