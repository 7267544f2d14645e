import { hash } from 'node:crypto';
import { type Account, type ActiveKey, type BoundToLife, lifeOf } from './account.ts';

const KEY_PREFIX = 'svc_pat_';
const SESSION_PREFIX = 'svc_session_';
const PREVIEW_CHARACTERS = 4;
const SESSION_MS = 14 * 24 * 60 * 60 * 1000;

/** Random bytes in every token: as many as its SHA-256 has, so that a plain hash is enough to keep. */
export const TOKEN_BYTES = 32;
export const MAX_ACTIVE_KEYS = 10;

/** The only form in which a token is stored or looked up. */
export const hashToken = (token: string): string => hash('sha256', token, 'hex');

/** What the rules for a new token cannot draw themselves. */
interface TokenSeed {
  readonly id: string;
  readonly random: Buffer;
  readonly at: Date;
}

export interface IssuedKey {
  readonly key: ActiveKey;
  /** In full; from here it goes into the answer and nowhere else. */
  readonly token: string;
}

export const issueKey = (name: string, { id, random, at }: TokenSeed): IssuedKey => {
  const token = `${KEY_PREFIX}${random.toString('base64url')}`;
  const preview = `${token.slice(0, KEY_PREFIX.length + PREVIEW_CHARACTERS)}…`;
  return { token, key: { id, hash: hashToken(token), name, preview, createdAt: at } };
};

/** A signed-in app session. */
export interface Session extends BoundToLife {
  readonly hash: string;
  /** Set by signing out. */
  readonly endedAt: Date | null;
}

export interface IssuedSession {
  readonly session: Session;
  /** In full; from here it goes into the answer and nowhere else. */
  readonly token: string;
}

export const issueSession = (account: Account, { id, random, at }: TokenSeed): IssuedSession => {
  const token = `${SESSION_PREFIX}${random.toString('base64url')}`;
  const expiresAt = new Date(at.getTime() + SESSION_MS);
  return {
    token,
    session: { id, hash: hashToken(token), accountId: account.id, createdAt: at, expiresAt, endedAt: null, life: lifeOf(account) },
  };
};

/** A session of an earlier life of its account has ended with that life. */
export const sessionIsLive = (session: Pick<Session, 'endedAt' | 'expiresAt' | 'life'>, owner: Account, now: Date): boolean =>
  session.endedAt === null && session.expiresAt > now && lifeOf(session) === lifeOf(owner);
