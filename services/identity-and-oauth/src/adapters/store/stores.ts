import type { Infra } from '@bubbles/host/service.ts';
import { aggregateStore } from '@bubbles/store/aggregates.ts';
import type { Account } from '../../domain/account.ts';
import type { Team } from '../../domain/team.ts';
import { ACCOUNT_INDEXES, type AccountDoc, createAccountStore, createTeamStore, type TeamDoc } from './accounts.ts';
import { createKeyUses, createRevokedKeyStore, type KeyUseDoc, REVOKED_KEY_INDEXES, type RevokedKeyDoc } from './api-keys.ts';
import { ASSERTION_KEY_INDEXES, type AssertionKeyDoc, createAssertionKeyStore } from './assertion-keys.ts';
import { createCredentialStore, createSessionStore, SESSION_INDEXES, type SessionDoc } from './credentials.ts';

interface StoreOptions extends Pick<Infra, 'database' | 'clock' | 'ids'> {
  /** The name under which events are published. */
  readonly source: string;
  /** There may be events to relay. */
  readonly onCommit: () => void;
}

/** Everything that identity keeps. */
export const openStores = ({ database, ...aggregate }: StoreOptions) => {
  const accounts = database.collection<AccountDoc>('accounts');
  const teams = database.collection<TeamDoc>('teams');
  const sessions = database.collection<SessionDoc>('sessions');
  const revokedKeys = database.collection<RevokedKeyDoc>('revoked_keys');
  const assertionKeys = database.collection<AssertionKeyDoc>('assertion_keys');
  return {
    accounts: createAccountStore(aggregateStore<Account>(accounts, aggregate), accounts),
    teams: createTeamStore(aggregateStore<Team>(teams, aggregate), teams),
    sessions: createSessionStore(sessions),
    revokedKeys: createRevokedKeyStore(revokedKeys),
    credentials: createCredentialStore({ accounts, sessions, revokedKeys }, aggregate.clock),
    keyUses: createKeyUses(database.collection<KeyUseDoc>('key_uses')),
    assertionKeys: createAssertionKeyStore(assertionKeys),
    /** Those whose documents carry events. */
    relayed: [accounts],
    ensureIndexes: async () => {
      await Promise.all([
        accounts.ensureIndexes(ACCOUNT_INDEXES),
        sessions.ensureIndexes(SESSION_INDEXES),
        revokedKeys.ensureIndexes(REVOKED_KEY_INDEXES),
        assertionKeys.ensureIndexes(ASSERTION_KEY_INDEXES),
      ]);
    },
  };
};
export type Stores = ReturnType<typeof openStores>;
