import { AccountsSnapshot } from '@bubbles/contracts/internal/accounts.ts';
import type { InternalClient } from '@bubbles/http/client/internal-client.ts';
import type { Accounts } from '../../ports.ts';

const ACCOUNTS_A_PAGE = 500;

export const accounts = (identity: InternalClient): Accounts => ({
  async page(after) {
    const query = new URLSearchParams({ limit: String(ACCOUNTS_A_PAGE), ...(after === null ? {} : { after }) });
    const snapshot = await identity.get(`/internal/v1/accounts?${query}`, { schema: AccountsSnapshot });
    const people = snapshot.accounts.map(({ user_id, name, email, revision }) => ({ id: user_id, name, email, revision }));
    return { people, nextAfter: snapshot.next_after };
  },
});
