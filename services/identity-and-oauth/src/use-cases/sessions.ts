import type { Clock } from '@bubbles/kernel/clock.ts';
import { DomainError } from '@bubbles/kernel/errors.ts';
import type { Ids } from '@bubbles/kernel/ids.ts';
import type { Account } from '../domain/account.ts';
import { type IssuedSession, issueSession, type Session, sessionIsLive, TOKEN_BYTES } from '../domain/token.ts';
import type { AccountStore, SessionStore } from '../ports.ts';

/** How long an expired session is kept, so that its use after the account was closed is refused as `account_deleted`. */
const KEPT_AFTER_EXPIRY_MS = 14 * 24 * 60 * 60 * 1000;

export const startSession =
  ({ accounts, sessions, clock, ids }: { accounts: AccountStore; sessions: SessionStore; clock: Clock; ids: Ids }) =>
  async (accountId: string): Promise<IssuedSession> => {
    const account = await accounts.get(accountId);
    if (!account) throw new DomainError('not_found', 'No such account.');
    const issued = issueSession(account, { id: ids.uuid(), random: ids.bytes(TOKEN_BYTES), at: clock.now() });
    await sessions.insert(issued.session);
    return issued;
  };

export const endSession =
  ({ sessions, clock }: { sessions: SessionStore; clock: Clock }) =>
  async (sessionId: string): Promise<void> => {
    if (!(await sessions.end(sessionId, clock.now()))) throw new DomainError('not_found', 'No such session.');
  };

const SESSIONS_SHOWN = 100;

export interface ListedSessions {
  readonly sessions: readonly Session[];
  /** Older ones were left out. */
  readonly hasMore: boolean;
}

/** Newest first. */
export const listSessions =
  ({ sessions, clock }: { sessions: SessionStore; clock: Clock }) =>
  async (owner: Account): Promise<ListedSessions> => {
    const now = clock.now();
    const found = await sessions.ofAccount(owner.id, now, SESSIONS_SHOWN + 1);
    return {
      sessions: found.slice(0, SESSIONS_SHOWN).filter((one) => sessionIsLive(one, owner, now)),
      hasMore: found.length > SESSIONS_SHOWN,
    };
  };

export const endOwnSession =
  ({ sessions, clock }: { sessions: SessionStore; clock: Clock }) =>
  async ({ owner, sessionId }: { owner: Account; sessionId: string }): Promise<void> => {
    if (!(await sessions.endOwn(owner.id, sessionId, clock.now()))) throw new DomainError('not_found', 'No such session.');
  };

export const endAllSessions =
  ({ sessions, clock }: { sessions: SessionStore; clock: Clock }) =>
  async (owner: Account): Promise<void> => {
    await sessions.endOfAccount(owner.id, clock.now());
  };

export const sweepSessions =
  ({ sessions, clock }: { sessions: SessionStore; clock: Clock }) =>
  async (): Promise<void> => {
    await sessions.forgetExpiredBefore(new Date(clock.now().getTime() - KEPT_AFTER_EXPIRY_MS));
  };
