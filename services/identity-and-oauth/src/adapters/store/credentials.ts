import { type CredentialKind, SCOPES } from '@bubbles/contracts/access.ts';
import type { Clock } from '@bubbles/kernel/clock.ts';
import { batchWhileBusy } from '@bubbles/kernel/concurrency.ts';
import { createTwoGenerationCache } from '@bubbles/kernel/two-generation-cache.ts';
import { stateOf } from '@bubbles/store/aggregates.ts';
import type { Collection, IndexSpec } from '@bubbles/store/collection.ts';
import type { OpenCollection } from '@bubbles/store/indexed-collections.ts';
import type { Account, VersionedAccount } from '../../domain/account.ts';
import type { Credential, CredentialStatus } from '../../domain/credential.ts';
import { grantIsLive } from '../../domain/grant.ts';
import { type Session, sessionIsLive } from '../../domain/token.ts';
import type { AccessToken, CredentialStore, GrantStore, NoteUse, RevokedKey, RevokedKeyStore, SessionStore, Uses } from '../../ports.ts';
import { type AccountDoc, readsById } from './accounts.ts';

/** `_id` is the hash of the token, by which every request looks. */
type SessionDoc = Omit<Session, 'id' | 'hash'> & { readonly _id: string; readonly sessionId: string };
type RevokedKeyDoc = Omit<RevokedKey, 'hash'> & { readonly _id: string };

const SESSION_INDEXES: readonly IndexSpec[] = [
  { name: 'sessionId', keys: { sessionId: 1 }, unique: true },
  { name: 'expiresAt', keys: { expiresAt: 1 } },
  { name: 'account_ended_expires_at', keys: { accountId: 1, endedAt: 1, expiresAt: -1 } },
];
const REVOKED_KEY_INDEXES: readonly IndexSpec[] = [{ name: 'revoked_at', keys: { revokedAt: 1 } }];

interface CredentialStores {
  readonly sessions: SessionStore;
  readonly revokedKeys: RevokedKeyStore;
  readonly credentials: CredentialStore;
}

/** Sessions, revoked keys, and every credential by its token: live keys are in the documents of their accounts. */
export const openCredentials = (
  open: OpenCollection,
  { accounts, grants }: Pick<CredentialCollections, 'accounts' | 'grants'>,
  clock: Clock,
): CredentialStores => {
  const sessions = open<SessionDoc>('sessions', SESSION_INDEXES);
  const revokedKeys = open<RevokedKeyDoc>('revoked_keys', REVOKED_KEY_INDEXES);
  return {
    sessions: {
      insert: async ({ id, hash, ...session }) => {
        await sessions.insert({ ...session, _id: hash, sessionId: id });
      },
      ofAccount: async (accountId, at, limit) => {
        const going = { accountId, endedAt: null, expiresAt: { $gt: at } };
        const docs = await sessions.find(going, { sort: { expiresAt: -1 }, limit });
        return docs.map(({ _id, sessionId, ...session }) => ({ ...session, id: sessionId, hash: _id }));
      },
      end: async (id, at) => (await sessions.updateOne({ sessionId: id, endedAt: null }, { $set: { endedAt: at } })) === 'updated',
      endOwn: async (accountId, id, at) =>
        (await sessions.updateOne({ sessionId: id, accountId, endedAt: null }, { $set: { endedAt: at } })) === 'updated',
      endOfAccount: async (accountId, at) => {
        await sessions.updateMany({ accountId, endedAt: null }, { $set: { endedAt: at } });
      },
      endByHash: async (hash, at) => {
        await sessions.updateOne({ _id: hash, endedAt: null }, { $set: { endedAt: at } });
      },
      forgetExpiredBefore: (at) => sessions.deleteMany({ expiresAt: { $lt: at } }),
    },
    revokedKeys: {
      put: async ({ hash, ...key }) => {
        await revokedKeys.insert({ ...key, _id: hash });
      },
      revokedBefore: async (at, limit) => {
        const docs = await revokedKeys.find({ revokedAt: { $lt: at } }, { sort: { revokedAt: 1 }, limit });
        return docs.map(({ _id, ...key }) => ({ ...key, hash: _id }));
      },
      forget: async (hashes) => {
        await revokedKeys.deleteMany({ _id: { $in: [...hashes] } });
      },
    },
    credentials: credentialStore({ accounts, grants, sessions, revokedKeys }, clock),
  };
};

/** Scopes of API keys and sessions: both act as the user. */
const ALL_SCOPES = Object.keys(SCOPES);
/** One that is in flight and one that does not wait for it. */
const CONCURRENT_READS = 2;

interface CredentialCollections {
  readonly accounts: Collection<AccountDoc>;
  readonly grants: Pick<GrantStore, 'byIds'>;
  readonly sessions: Collection<SessionDoc>;
  readonly revokedKeys: Collection<RevokedKeyDoc>;
}

/** A credential whose owner is not read yet. */
type FoundToken = Pick<Credential, 'id' | 'kind'> & {
  readonly hash: string;
  readonly accountId: string;
  readonly statusFor: (owner: Account) => CredentialStatus;
};

const credentialStore = ({ accounts, grants, sessions, revokedKeys }: CredentialCollections, clock: Clock): CredentialStore => {
  const { byIds: owners } = readsById(accounts, versioned);

  const liveKeys = async (hashes: readonly string[]): Promise<Map<string, Credential>> => {
    const wanted = new Set(hashes);
    const found = new Map<string, Credential>();
    for (const doc of await accounts.find({ 'keys.hash': { $in: [...wanted] } })) {
      const owner = versioned(doc);
      for (const { id, hash } of doc.keys)
        if (wanted.has(hash)) found.set(hash, { ...owner, id, kind: 'pat', scopes: ALL_SCOPES, status: 'live' });
    }
    return found;
  };
  const sessionsAndRevokedKeys = async (hashes: string[]): Promise<FoundToken[]> => {
    const [signedIn, revoked] = await Promise.all([sessions.find({ _id: { $in: hashes } }), revokedKeys.find({ _id: { $in: hashes } })]);
    const now = clock.now();
    return [
      ...signedIn.map((session): FoundToken => {
        const statusFor = (owner: Account) => (sessionIsLive(session, owner, now) ? 'live' : 'ended');
        return { hash: session._id, accountId: session.accountId, id: session.sessionId, kind: 'session', statusFor };
      }),
      ...revoked.map(
        ({ _id: hash, accountId, keyId }): FoundToken => ({ hash, accountId, id: keyId, kind: 'pat', statusFor: () => 'revoked' }),
      ),
    ];
  };
  const byHash = async (hashes: readonly string[]): Promise<ReadonlyMap<string, Credential>> => {
    const found = await liveKeys(hashes);
    const missing: string[] = [];
    for (const hash of hashes) if (!found.has(hash)) missing.push(hash);
    if (missing.length === 0) return found;
    const tokens = await sessionsAndRevokedKeys(missing);
    if (tokens.length === 0) return found;
    const accountsById = await owners(tokens.map(({ accountId }) => accountId));
    for (const { hash, accountId, id, kind, statusFor } of tokens) {
      const owner = accountsById.get(accountId);
      if (owner) found.set(hash, { ...owner, id, kind, scopes: ALL_SCOPES, status: statusFor(owner.account) });
    }
    return found;
  };

  const grantsAndOwners = (tokens: readonly AccessToken[]) =>
    Promise.all([grants.byIds(tokens.map(({ grantId }) => grantId)), owners(tokens.map(({ accountId }) => accountId))]);

  const batched = batchWhileBusy((lists: readonly (readonly string[])[]) => byHash(lists.flat()), CONCURRENT_READS);
  const batchedGrants = batchWhileBusy((lists: readonly (readonly AccessToken[])[]) => grantsAndOwners(lists.flat()), CONCURRENT_READS);
  return {
    byHash: rememberingUnknown(batched, clock),
    byAccessToken: async (tokens) => {
      const found = new Map<string, Credential>();
      if (tokens.size === 0) return found;
      const [grantsById, ownersById] = await batchedGrants([...tokens.values()]);
      const now = clock.now();
      for (const [hash, { grantId, accountId, clientId, scopes, expiresAt }] of tokens) {
        const owner = ownersById.get(accountId);
        if (!owner) continue;
        const grant = grantsById.get(grantId);
        const isLive = expiresAt > now && grant?.clientId === clientId && grantIsLive(grant, owner.account, now);
        found.set(hash, { ...owner, id: grantId, kind: 'oauth', scopes, status: isLive ? 'live' : 'ended' });
      }
      return found;
    },
  };
};

const versioned = (doc: AccountDoc): VersionedAccount => ({ account: stateOf<Account>(doc), accountVersion: doc.version });

/** Each where the uses of its kind are kept; those of a session are kept nowhere. */
export const noteUses = ({ keyUses, grantUses }: Readonly<Record<'keyUses' | 'grantUses', Pick<Uses, 'note'>>>): NoteUse => {
  const usesOf: Readonly<Record<CredentialKind, Pick<Uses, 'note'> | null>> = { pat: keyUses, oauth: grantUses, session: null };
  return ({ id, kind }, at) => usesOf[kind]?.note(id, at);
};

/** A token that is made meanwhile is never among them: its text is drawn at random, and nobody has it before it is stored. */
const UNKNOWN_MS = 5000;
const MAX_UNKNOWN = 20_000;

/** Asks the store once about a hash that no token has, however often it comes. */
const rememberingUnknown = (read: CredentialStore['byHash'], clock: Clock): CredentialStore['byHash'] => {
  const unknownUntil = createTwoGenerationCache<number>(UNKNOWN_MS, MAX_UNKNOWN);
  return async (hashes) => {
    const nowMs = clock.monotonic();
    const asked: string[] = [];
    for (const hash of hashes) if (nowMs >= (unknownUntil.get(hash, nowMs) ?? nowMs)) asked.push(hash);
    if (asked.length === 0) return new Map();
    const found = await read(asked);
    for (const hash of asked) if (!found.has(hash)) unknownUntil.set(hash, nowMs + UNKNOWN_MS, nowMs);
    return found;
  };
};
