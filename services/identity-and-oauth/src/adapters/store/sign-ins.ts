import { sweepExpired } from '@bubbles/store/collection.ts';
import type { OpenCollection } from '@bubbles/store/indexed-collections.ts';
import type { SignIn } from '../../domain/sign-in.ts';
import type { SignInStore } from '../../sign-in-ports.ts';

type SignInDoc = Omit<SignIn, 'id'> & { readonly _id: string };

export const openSignIns = (open: OpenCollection): SignInStore => {
  const signIns = open<SignInDoc>('sign_ins', [{ name: 'expires_at', keys: { expiresAt: 1 } }]);
  return {
    insert: async ({ id, ...signIn }) => {
      await signIns.insert({ ...signIn, _id: id });
    },
    get: async (id) => {
      const doc = await signIns.findOne({ _id: id });
      if (!doc) return null;
      const { _id, ...signIn } = doc;
      return { ...signIn, id: _id };
    },
    prove: async (id) => {
      await signIns.updateOne({ _id: id }, { $set: { isProven: true } });
    },
    endAt: async (id, at) => {
      await signIns.updateOne({ _id: id }, { $min: { expiresAt: at } });
    },
    forgetExpired: (now) => sweepExpired(signIns, now),
  };
};
