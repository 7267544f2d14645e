import { createHash } from 'node:crypto';

const KEY_PREFIX = 'svc_pat_';
const SESSION_PREFIX = 'svc_session_';
const PREVIEW_CHARACTERS = 4;

/** Random bytes in every token: as many as its SHA-256 has, so that a plain hash is enough to keep. */
export const TOKEN_BYTES = 32;
export const MAX_ACTIVE_KEYS = 10;
export const SESSION_MS = 14 * 24 * 60 * 60 * 1000;

/** The only form in which a token is stored or looked up. */
export const hashToken = (token: string): string => createHash('sha256').update(token).digest('hex');

export const keyToken = (random: Buffer): string => `${KEY_PREFIX}${random.toString('base64url')}`;
export const sessionToken = (random: Buffer): string => `${SESSION_PREFIX}${random.toString('base64url')}`;

export const keyPreview = (token: string): string => `${token.slice(0, KEY_PREFIX.length + PREVIEW_CHARACTERS)}…`;

/** A signed-in app session. */
export interface Session {
  readonly id: string;
  readonly hash: string;
  readonly accountId: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  /** Set by signing out. */
  readonly endedAt: Date | null;
}

export const sessionIsLive = (session: Session, now: Date): boolean => session.endedAt === null && session.expiresAt > now;
