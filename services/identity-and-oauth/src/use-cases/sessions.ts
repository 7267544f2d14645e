import type { Clock } from '@bubbles/shared/clock.ts';
import { DomainError } from '@bubbles/shared/errors.ts';
import type { Ids } from '@bubbles/shared/ids.ts';
import { hashToken, SESSION_MS, type Session, sessionToken, TOKEN_BYTES } from '../domain/token.ts';
import type { AccountStore, SessionStore } from '../ports.ts';

/** How long an expired session is still known, so that its use after the account closed is told as that. */
const KEPT_AFTER_EXPIRY_MS = 14 * 24 * 60 * 60 * 1000;

export interface IssuedSession {
  readonly session: Session;
  /** In full; from here it goes into the answer and nowhere else. */
  readonly token: string;
}

interface Making {
  readonly clock: Clock;
  readonly ids: Ids;
}

export const makeSession = ({ clock, ids }: Making, accountId: string): IssuedSession => {
  const token = sessionToken(ids.bytes(TOKEN_BYTES));
  const createdAt = clock.now();
  const expiresAt = new Date(createdAt.getTime() + SESSION_MS);
  return { token, session: { id: ids.uuid(), hash: hashToken(token), accountId, createdAt, expiresAt, endedAt: null } };
};

export const startSession =
  ({ accounts, sessions, ...making }: Making & { accounts: AccountStore; sessions: SessionStore }) =>
  async (accountId: string): Promise<IssuedSession> => {
    if (!(await accounts.get(accountId))) throw new DomainError('not_found', 'No such account.');
    const issued = makeSession(making, accountId);
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
