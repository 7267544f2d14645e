import { type IndexSpec, sweepExpired } from '@bubbles/store/collection.ts';
import type { OpenCollection } from '@bubbles/store/indexed-collections.ts';
import type { AuthorizationRequest } from '../../domain/authorization.ts';
import type { AuthorizationRequestStore } from '../../ports.ts';

/** `_id` is the hash of the request's id. */
type RequestDoc = Omit<AuthorizationRequest, 'hash'> & { readonly _id: string };

const INDEXES: readonly IndexSpec[] = [{ name: 'expires_at', keys: { expiresAt: 1 } }];

export const openAuthorizationRequests = (open: OpenCollection): AuthorizationRequestStore => {
  const documents = open<RequestDoc>('oauth_requests', INDEXES);
  const requestOf = ({ _id, ...request }: RequestDoc): AuthorizationRequest => ({ ...request, hash: _id });
  const get = async (hash: string) => {
    const doc = await documents.findOne({ _id: hash });
    return doc && requestOf(doc);
  };
  return {
    insert: async ({ hash, ...request }) => {
      await documents.insert({ ...request, _id: hash });
    },
    get,
    answer: async (hash, answer) => {
      await documents.updateOne({ _id: hash, answer: null }, { $set: { answer } });
      return (await get(hash))?.answer ?? null;
    },
    forgetExpired: (now) => sweepExpired(documents, now),
  };
};
