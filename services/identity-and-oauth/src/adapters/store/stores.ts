import type { StoreContext } from '@bubbles/host/service.ts';
import { indexedCollections } from '@bubbles/store/indexed-collections.ts';
import { openAccounts, openTeams } from './accounts.ts';
import { openAssertionKeys } from './assertion-keys.ts';
import { openCredentials } from './credentials.ts';
import { openKeyUses } from './key-uses.ts';

/** Everything that identity keeps. */
export const openStores = ({ database, ...options }: StoreContext) => {
  const { open, ensureIndexes } = indexedCollections(database);
  const accounts = openAccounts(open, options);
  return {
    accounts: accounts.store,
    teams: openTeams(open, options),
    ...openCredentials(open, accounts.documents, options.clock),
    keyUses: openKeyUses(open),
    assertionKeys: openAssertionKeys(open),
    /** Those whose documents carry events. */
    relayed: [accounts.documents],
    ensureIndexes,
  };
};
