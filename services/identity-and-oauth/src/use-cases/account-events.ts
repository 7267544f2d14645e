import { outgoing } from '@bubbles/bus/outgoing.ts';
import { AccountChangedV1 } from '@bubbles/contracts/events/account-events.ts';
import type { AccountFacts } from '@bubbles/contracts/internal/accounts.ts';
import type { Changed } from '@bubbles/store/aggregates.ts';
import type { Account } from '../domain/account.ts';

export const accountFacts = (account: Account): AccountFacts => ({
  user_id: account.id,
  state: account.state,
  name: account.name,
  email: account.email,
  picture_url: account.pictureUrl,
  revision: account.revision,
});

/** The account with the event that tells it; the id is that of the fact, so that a repeated relay is known as one. */
export const announced = (account: Account): Changed<Account> => ({
  state: account,
  events: [outgoing(AccountChangedV1, accountFacts(account), { id: `${account.id}:${account.revision}`, subject: account.id })],
});

/** What the outside does not hear of. */
export const silently = (account: Account): Changed<Account> => ({ state: account, events: [] });
