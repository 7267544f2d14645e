import { SCOPES } from '@bubbles/contracts/access.ts';
import type { Clock } from '@bubbles/kernel/clock.ts';
import type { Collection } from '@bubbles/store/collection.ts';
import type { Account, VersionedAccount } from '../../domain/account.ts';
import type { Credential, Standing } from '../../domain/credential.ts';
import { generations } from '../../domain/generations.ts';
import { sessionIsLive } from '../../domain/token.ts';
import type { CredentialStore } from '../../ports.ts';
import { type AccountDoc, versionedAccountOf } from './accounts.ts';
import { coalesced } from './coalesce.ts';
import { readsOf } from './reads.ts';
import type { RevokedKeyDoc } from './revoked-keys.ts';
import type { SessionDoc } from './sessions.ts';

/** Of a key or session, which are the user in person. */
const ALL_SCOPES = Object.keys(SCOPES);
/** One that is on its way and one that does not wait for it. */
const READS_IN_FLIGHT = 2;

interface CredentialCollections {
  readonly accounts: Collection<AccountDoc>;
  readonly sessions: Collection<SessionDoc>;
  readonly revokedKeys: Collection<RevokedKeyDoc>;
}

type Owned = Omit<Credential, keyof VersionedAccount | 'standing'> & {
  readonly hash: string;
  readonly accountId: string;
  readonly standing: (owner: Account) => Standing;
};

export const credentialStore = ({ accounts, sessions, revokedKeys }: CredentialCollections, clock: Clock): CredentialStore => {
  const { byIds: owners } = readsOf(accounts, versionedAccountOf);

  const liveKeys = async (hashes: readonly string[]): Promise<Map<string, Credential>> => {
    const wanted = new Set(hashes);
    const found = new Map<string, Credential>();
    for (const doc of await accounts.find({ 'keys.hash': { $in: [...wanted] } })) {
      const owner = versionedAccountOf(doc);
      for (const { id, hash } of doc.keys)
        if (wanted.has(hash)) found.set(hash, { ...owner, id, kind: 'pat', scopes: ALL_SCOPES, standing: 'live' });
    }
    return found;
  };

  const others = async (hashes: string[]): Promise<Owned[]> => {
    const [signedIn, revoked] = await Promise.all([sessions.find({ _id: { $in: hashes } }), revokedKeys.find({ _id: { $in: hashes } })]);
    const now = clock.now();
    return [
      ...signedIn.map((session) => ({
        hash: session._id,
        accountId: session.accountId,
        id: session.sessionId,
        kind: 'session' as const,
        scopes: ALL_SCOPES,
        standing: (owner: Account) => (sessionIsLive(session, owner, now) ? 'live' : 'ended'),
      })),
      ...revoked.map(({ _id, accountId, keyId }) => ({
        hash: _id,
        accountId,
        id: keyId,
        kind: 'pat' as const,
        scopes: ALL_SCOPES,
        standing: () => 'revoked' as const,
      })),
    ];
  };

  const byHash = async (hashes: readonly string[]): Promise<ReadonlyMap<string, Credential>> => {
    const found = await liveKeys(hashes);
    const missing = hashes.filter((hash) => !found.has(hash));
    if (missing.length === 0) return found;
    const owned = await others(missing);
    if (owned.length === 0) return found;
    const accountsById = await owners(owned.map(({ accountId }) => accountId));
    for (const { hash, accountId, standing, ...credential } of owned) {
      const owner = accountsById.get(accountId);
      if (owner) found.set(hash, { ...credential, ...owner, standing: standing(owner.account) });
    }
    return found;
  };

  return { byHash: rememberingUnknown(coalesced(byHash, READS_IN_FLIGHT), clock), owners };
};

/** No token that is made meanwhile is among them: its text is drawn at random, and nobody has it before the answer that follows its being stored. */
const UNKNOWN_MS = 5000;
const MAX_UNKNOWN = 20_000;

/** Asks the store once about a token that nobody has, however often it comes. */
const rememberingUnknown = (read: CredentialStore['byHash'], clock: Clock): CredentialStore['byHash'] => {
  const unknownUntil = generations<number>(UNKNOWN_MS, MAX_UNKNOWN);
  return async (hashes) => {
    const nowMs = clock.monotonic();
    const asked = hashes.filter((hash) => nowMs >= (unknownUntil.get(hash, nowMs) ?? nowMs));
    if (asked.length === 0) return new Map();
    const found = await read(asked);
    for (const hash of asked) if (!found.has(hash)) unknownUntil.set(hash, nowMs + UNKNOWN_MS, nowMs);
    return found;
  };
};
