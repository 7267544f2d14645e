import type { Infra } from '@bubbles/host/service.ts';
import { aggregateStore, type Stored } from '@bubbles/store/aggregates.ts';
import type { Account } from '../../domain/account.ts';
import type { Team } from '../../domain/team.ts';
import { ACCOUNT_INDEXES, type AccountDoc, accountStore } from './accounts.ts';
import { ASSERTION_KEY_INDEXES, type AssertionKeyDoc, assertionKeyStore } from './assertion-keys.ts';
import { credentialStore } from './credentials.ts';
import { type KeyUseDoc, keyUses } from './key-uses.ts';
import { REVOKED_KEY_INDEXES, type RevokedKeyDoc, revokedKeyStore } from './revoked-keys.ts';
import { SESSION_INDEXES, type SessionDoc, sessionStore } from './sessions.ts';
import { teamStore } from './teams.ts';

export interface StoreOptions extends Pick<Infra, 'database' | 'clock' | 'ids'> {
  /** The name under which events are published. */
  readonly source: string;
  /** There may be events to relay. */
  readonly onCommit: () => void;
}

/** Everything that identity keeps. */
export const openStores = ({ database, ...aggregate }: StoreOptions) => {
  const accounts = database.collection<AccountDoc>('accounts');
  const teams = database.collection<Stored<Team>>('teams');
  const sessions = database.collection<SessionDoc>('sessions');
  const revokedKeys = database.collection<RevokedKeyDoc>('revoked_keys');
  const assertionKeys = database.collection<AssertionKeyDoc>('assertion_keys');
  return {
    accounts: accountStore(aggregateStore<Account>(accounts, aggregate), accounts),
    teams: teamStore(aggregateStore<Team>(teams, aggregate), teams),
    sessions: sessionStore(sessions),
    revokedKeys: revokedKeyStore(revokedKeys),
    credentials: credentialStore({ accounts, sessions, revokedKeys }, aggregate.clock),
    keyUses: keyUses(database.collection<KeyUseDoc>('key_uses')),
    assertionKeys: assertionKeyStore(assertionKeys),
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
