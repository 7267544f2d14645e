import type { Infra } from '@bubbles/host/service.ts';
import { indexedCollections } from '@bubbles/store/indexed-collections.ts';
import { openAccounts, openTeams } from './accounts.ts';
import { openAssertionKeys } from './assertion-keys.ts';
import { openCredentials } from './credentials.ts';
import { openKeyUses } from './key-uses.ts';

interface StoreOptions extends Pick<Infra, 'database' | 'clock' | 'ids'> {
  /** The name under which events are published. */
  readonly source: string;
  /** There may be events to relay. */
  readonly onCommit: () => void;
}

/** Everything that identity keeps. */
export const openStores = ({ database, ...options }: StoreOptions) => {
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
