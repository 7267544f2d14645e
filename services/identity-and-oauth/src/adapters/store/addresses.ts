import type { OpenCollection } from '@bubbles/store/indexed-collections.ts';
import type { TakenAddress } from '../../domain/address.ts';
import type { AddressStore } from '../../ports.ts';

/** At most one account an address: its insert under the address decides. */
export type AddressDoc = Omit<TakenAddress, 'address'> & { readonly _id: string };

const takenOf = ({ _id, ...taken }: AddressDoc): TakenAddress => ({ ...taken, address: _id });

export const openAddresses = (open: OpenCollection): AddressStore => {
  const addresses = open<AddressDoc>('addresses');
  // Not stored: an older release may have written accounts since the process before this one.
  let isComplete = false;
  return {
    get: async (address) => {
      const doc = await addresses.findOne({ _id: address });
      return doc && takenOf(doc);
    },
    getEach: async (wanted) => {
      const docs = await addresses.find({ _id: { $in: [...wanted] } });
      return new Map(docs.map((doc) => [doc._id, takenOf(doc)]));
    },
    insert: ({ address, ...taken }) => addresses.insert({ ...taken, _id: address }),
    replace: async ({ address, accountId, version }, next) =>
      (await addresses.updateOne({ _id: address, accountId, version }, { $set: next, $inc: { version: 1 } })) === 'updated',
    keep: async ({ address, accountId, takenAt }) =>
      (await addresses.updateOne({ _id: address, accountId }, { $set: { takenAt }, $inc: { version: 1 } })) === 'updated',
    free: async ({ address, accountId, version }) => {
      await addresses.deleteOne({ _id: address, accountId, version });
    },
    isComplete: () => isComplete,
    markComplete: () => {
      isComplete = true;
    },
  };
};
