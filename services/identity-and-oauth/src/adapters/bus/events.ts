import { outgoing } from '@bubbles/bus/outgoing.ts';
import { AccountChangedV1 } from '@bubbles/contracts/events/service-events.ts';
import type { AccountFacts } from '@bubbles/contracts/internal/accounts.ts';
import type { Account } from '../../domain/account.ts';
import type { AccountChanged } from '../../ports.ts';

/** The id is that of the fact, so that a message that is sent again counts once. */
export const accountChanged =
  (presentAccount: (account: Account) => AccountFacts): AccountChanged =>
  (account) =>
    outgoing(AccountChangedV1, presentAccount(account), { id: `${account.id}:${account.revision}`, subject: account.id });
