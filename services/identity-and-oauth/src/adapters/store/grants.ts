import { type IndexSpec, sweepExpired, sweepSlices } from '@bubbles/store/collection.ts';
import type { OpenCollection } from '@bubbles/store/indexed-collections.ts';
import type { AuthorizationCode, Grant, RefreshToken } from '../../domain/grant.ts';
import type { CodeStore, GrantStore, RefreshTokenStore } from '../../ports.ts';
import { readsById } from './accounts.ts';

type GrantDoc = Omit<Grant, 'id'> & { readonly _id: string };
/** `_id` is the hash of the code. */
type CodeDoc = Omit<AuthorizationCode, 'hash'> & { readonly _id: string };
/** `_id` is what was spent for the token, so that one insert spends it and issues the next: there is never one without the other. */
type RefreshTokenDoc = Omit<RefreshToken, 'issuedFor'> & { readonly _id: string };

const GRANT_INDEXES: readonly IndexSpec[] = [
  { name: 'account_created_at', keys: { accountId: 1, createdAt: -1 } },
  { name: 'account_client', keys: { accountId: 1, clientId: 1 } },
  { name: 'client', keys: { clientId: 1 } },
  { name: 'expires_at', keys: { expiresAt: 1 } },
];
const CODE_INDEXES: readonly IndexSpec[] = [{ name: 'created_at', keys: { createdAt: 1 } }];
const REFRESH_TOKEN_INDEXES: readonly IndexSpec[] = [
  { name: 'hash', keys: { hash: 1 } },
  { name: 'keep_until', keys: { keepUntil: 1 } },
];

interface GrantStores {
  readonly grants: GrantStore;
  readonly codes: CodeStore;
  readonly refreshTokens: RefreshTokenStore;
}

/** Codes and refresh tokens have no index by grant: without it they are worth nothing, and are swept with their time. */
export const openGrants = (open: OpenCollection): GrantStores => {
  const grants = open<GrantDoc>('oauth_grants', GRANT_INDEXES);
  const codes = open<CodeDoc>('oauth_codes', CODE_INDEXES);
  const refreshTokens = open<RefreshTokenDoc>('oauth_refresh_tokens', REFRESH_TOKEN_INDEXES);
  return {
    grants: {
      ...readsById(grants, grantOf),
      insert: ({ id, ...grant }) => grants.insert({ ...grant, _id: id }),
      ofAccount: async (accountId) => (await grants.find({ accountId }, { sort: { createdAt: -1 } })).map(grantOf),
      ofAccountByClient: async (accountId, { after, limit }) => {
        const further = after === null ? {} : { clientId: { $gt: after } };
        return (await grants.find({ accountId, ...further }, { sort: { clientId: 1 }, limit })).map(grantOf);
      },
      ofAccountAtClient: async (accountId, clientId, limit) => (await grants.find({ accountId, clientId }, { limit })).map(grantOf),
      extend: async (id, expiresAt) => (await grants.updateOne({ _id: id }, { $set: { expiresAt } })) === 'updated',
      end: async (id) => {
        await grants.deleteOne({ _id: id });
      },
      endOfClient: async (clientId) => {
        await grants.deleteMany({ clientId });
      },
      endOfAccountAtClient: async (accountId, clientId) => {
        await grants.deleteMany({ accountId, clientId });
      },
      anyOfClient: async (clientId) => (await grants.count({ clientId }, { limit: 1 })) > 0,
      endOfAccount: async (accountId) => {
        await grants.deleteMany({ accountId });
      },
      sweep: (now) => sweepExpired(grants, now),
    },
    codes: {
      insert: async ({ hash, ...code }) => {
        await codes.insert({ ...code, _id: hash });
      },
      get: async (hash) => {
        const doc = await codes.findOne({ _id: hash });
        return doc && codeOf(doc);
      },
      sweep: (createdBefore) => sweepSlices(codes, { createdAt: { $lt: createdBefore } }, 'createdAt'),
    },
    refreshTokens: {
      issue: ({ issuedFor, ...token }) => refreshTokens.insert({ ...token, _id: issuedFor }),
      get: async (hash) => {
        const doc = await refreshTokens.findOne({ hash });
        return doc && refreshTokenOf(doc);
      },
      issuedFor: async (spent) => {
        const doc = await refreshTokens.findOne({ _id: spent });
        return doc && refreshTokenOf(doc);
      },
      sweep: (now) => sweepSlices(refreshTokens, { keepUntil: { $lte: now } }, 'keepUntil'),
    },
  };
};

const grantOf = ({ _id, ...grant }: GrantDoc): Grant => ({ ...grant, id: _id });
const codeOf = ({ _id, ...code }: CodeDoc): AuthorizationCode => ({ ...code, hash: _id });
const refreshTokenOf = ({ _id, ...token }: RefreshTokenDoc): RefreshToken => ({ ...token, issuedFor: _id });
