import type { StoreContext } from '@bubbles/host/service.ts';
import { createCodes } from '@bubbles/mail/codes.ts';
import { openMails } from '@bubbles/mail/mailer.ts';
import { createThrottle } from '@bubbles/mail/throttle.ts';
import { indexedCollections } from '@bubbles/store/indexed-collections.ts';
import type { Ed25519Key, P256Key } from '../../ports.ts';
import { openAccounts, openTeams } from './accounts.ts';
import { openAddresses } from './addresses.ts';
import { openAuthorizationRequests } from './authorization-requests.ts';
import { noteUses, openCredentials } from './credentials.ts';
import { openGrants } from './grants.ts';
import { openOAuthClients } from './oauth-clients.ts';
import { openSignIns } from './sign-ins.ts';
import { openSigningKeys } from './signing-keys.ts';
import { openUses } from './uses.ts';

/** Everything that identity keeps. */
export const openStores = ({ database, ...options }: StoreContext) => {
  const { clock, ids } = options;
  const { open, ensureIndexes } = indexedCollections(database);
  const accounts = openAccounts(open, options);
  const granted = openGrants(open);
  const [keyUses, grantUses] = [openUses(open, 'key_uses'), openUses(open, 'grant_uses')];
  return {
    accounts: accounts.store,
    addresses: openAddresses(open),
    teams: openTeams(open, options),
    ...openCredentials(open, { accounts: accounts.documents, grants: granted.grants }, clock),
    ...granted,
    keyUses,
    grantUses,
    noteUse: noteUses({ keyUses, grantUses }),
    assertionKeys: openSigningKeys<Ed25519Key>(open, 'assertion_keys'),
    accessTokenKeys: openSigningKeys<P256Key>(open, 'oauth_signing_keys'),
    registeredClients: openOAuthClients(open),
    authorizationRequests: openAuthorizationRequests(open),
    signIns: openSignIns(open),
    mails: openMails(open),
    mailedCodes: createCodes({ open, clock, ids }),
    throttle: createThrottle({ open, clock }),
    /** Those whose documents carry events. */
    relayed: [accounts.documents],
    ensureIndexes,
  };
};
