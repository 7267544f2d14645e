import { stateOf } from '@bubbles/store/aggregates.ts';
import type { Migration, MigrationContext } from '@bubbles/store/migration-step.ts';
import type { Account } from '../../domain/account.ts';
import { addressOf, isAbandoned, isOlder } from '../../domain/address.ts';
import type { AccountDoc } from './accounts.ts';
import type { AddressDoc } from './addresses.ts';

/** Reserves the addresses of accounts that an older release created. */
export const takeEarlierPage = async ({ database, clock, log }: MigrationContext, after: string | null): Promise<string | null> => {
  const accounts = database.collection<AccountDoc>('accounts');
  const addresses = database.collection<AddressDoc>('addresses');
  const take = async (account: Account, address: string) => {
    const mine = { accountId: account.id, takenAt: clock.now() };
    if (await addresses.insert({ _id: address, ...mine, version: 1 })) return;
    const taken = await addresses.findOne({ _id: address });
    if (taken === null || taken.accountId === account.id) return;
    const doc = await accounts.findOne({ _id: taken.accountId });
    const owner = doc && stateOf<Account>(doc);
    const isShared = owner !== null && addressOf(owner) === address;
    if (isShared) log.warn('two accounts have one address', { accountIds: [owner.id, account.id] });
    const { accountId, version } = taken;
    if (isShared ? isOlder(account, owner) : isAbandoned({ ...taken, address }, owner, mine.takenAt))
      await addresses.updateOne({ _id: address, accountId, version }, { $set: mine, $inc: { version: 1 } });
  };

  const page = await accounts.find(after === null ? {} : { _id: { $gt: after } }, { sort: { _id: 1 }, limit: 200 });
  const wanted = page.map((doc) => stateOf<Account>(doc)).map((account) => ({ account, address: addressOf(account) }));
  const known = await addresses.find({ _id: { $in: wanted.flatMap(({ address }) => address ?? []) } });
  const ownerOf = new Map(known.map(({ _id, accountId }) => [_id, accountId]));
  for (const { account, address } of wanted) if (address !== null && ownerOf.get(address) !== account.id) await take(account, address);
  return page.at(-1)?._id ?? null;
};

/** The last step that reserves addresses; afterwards every write of an account reserves its address. */
export const EARLIER_ADDRESSES_TAKEN = 2;

export const MIGRATIONS: readonly Migration[] = [
  { number: 1, name: 'take_earlier_addresses', phase: 'expand', batch: takeEarlierPage },
  // Processes of the previous release create accounts until the last one has ended.
  { number: EARLIER_ADDRESSES_TAKEN, name: 'take_last_earlier_addresses', phase: 'contract', batch: takeEarlierPage },
];
