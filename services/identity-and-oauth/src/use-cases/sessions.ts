import type { Clock } from '@bubbles/kernel/clock.ts';
import { DomainError } from '@bubbles/kernel/errors.ts';
import type { Ids } from '@bubbles/kernel/ids.ts';
import { type IssuedSession, issueSession, TOKEN_BYTES } from '../domain/token.ts';
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

export const sweepSessions =
  ({ sessions, clock }: { sessions: SessionStore; clock: Clock }) =>
  async (): Promise<void> => {
    await sessions.forgetExpiredBefore(new Date(clock.now().getTime() - KEPT_AFTER_EXPIRY_MS));
  };
