import type { Collection } from '@bubbles/store/collection.ts';
import type { Session } from '../../domain/token.ts';
import type { SessionStore } from '../../ports.ts';

/** `_id` is the hash of the token, by which every request looks. */
export type SessionDoc = Omit<Session, 'id' | 'hash'> & { readonly _id: string; readonly sessionId: string };

export const SESSION_INDEXES = [
  { name: 'sessionId', keys: { sessionId: 1 }, unique: true },
  { name: 'expiresAt', keys: { expiresAt: 1 } },
] as const;

export const sessionStore = (collection: Collection<SessionDoc>): SessionStore => ({
  insert: async ({ id, hash, ...session }) => {
    await collection.insert({ ...session, _id: hash, sessionId: id });
  },
  end: async (id, at) => (await collection.updateOne({ sessionId: id, endedAt: null }, { $set: { endedAt: at } })) === 'updated',
  forgetExpiredBefore: (at) => collection.deleteMany({ expiresAt: { $lt: at } }),
});
