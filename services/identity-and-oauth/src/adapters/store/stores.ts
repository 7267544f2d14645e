import type { StoreContext } from '@bubbles/host/service.ts';
import { indexedCollections } from '@bubbles/store/indexed-collections.ts';
import type { Ed25519Key, P256Key } from '../../ports.ts';
import { openAccounts, openTeams } from './accounts.ts';
import { openCredentials } from './credentials.ts';
import { openGrants } from './grants.ts';
import { openKeyUses } from './key-uses.ts';
import { openOAuthClients } from './oauth-clients.ts';
import { openSigningKeys } from './signing-keys.ts';

/** Everything that identity keeps. */
export const openStores = ({ database, ...options }: StoreContext) => {
  const { open, ensureIndexes } = indexedCollections(database);
  const accounts = openAccounts(open, options);
  return {
    accounts: accounts.store,
    teams: openTeams(open, options),
    ...openCredentials(open, accounts.documents, options.clock),
    ...openGrants(open),
    keyUses: openKeyUses(open),
    assertionKeys: openSigningKeys<Ed25519Key>(open, 'assertion_keys'),
    accessTokenKeys: openSigningKeys<P256Key>(open, 'oauth_signing_keys'),
    registeredClients: openOAuthClients(open),
    /** Those whose documents carry events. */
    relayed: [accounts.documents],
    ensureIndexes,
  };
};
