import type { Clock } from '@bubbles/kernel/clock.ts';
import { DomainError } from '@bubbles/kernel/errors.ts';
import type { Account } from '../domain/account.ts';
import { addressOf, isAbandoned, type TakenAddress } from '../domain/address.ts';
import type { AccountStore, AddressStore } from '../ports.ts';

export interface AddressPorts {
  readonly accounts: AccountStore;
  readonly addresses: AddressStore;
  readonly clock: Clock;
  /** One run at a time: it reads all accounts. */
  readonly takeEarlierAddresses: () => Promise<void>;
}

interface EarlierPorts extends Pick<AddressPorts, 'addresses'> {
  /** True once the contract step has reserved all addresses of older releases. */
  readonly areEarlierTaken: () => Promise<boolean>;
  /** Handles a page of accounts after that id; returns the last id, null when none is left. */
  readonly takeEarlierPage: (after: string | null) => Promise<string | null>;
}

export const addressTaken = () => new DomainError('limit_reached', 'email: another account has this address.');

/** Rejects when another account has the address. The profile is written after it, so that no two profiles have one address. */
const takeAddress = async (ports: AddressPorts, address: string, accountId: string): Promise<void> => {
  const { accounts, addresses, clock } = ports;
  const takenAt = clock.now();
  if (!addresses.isComplete()) await ports.takeEarlierAddresses();
  if (await addresses.insert({ address, accountId, takenAt, version: 1 })) return;
  if (await addresses.keep({ address, accountId, takenAt })) return;
  const taken = await addresses.get(address);
  const mayTake = taken !== null && isAbandoned(taken, await accounts.get(taken.accountId), takenAt);
  if (!mayTake || !(await addresses.replace(taken, { accountId, takenAt }))) throw addressTaken();
};

/** The id of the account that took the address and is not written yet; null when there is no such account. */
export const begunAt = async ({ accounts, addresses }: AddressPorts, address: string): Promise<string | null> => {
  const taken = await addresses.get(address);
  return taken !== null && (await accounts.get(taken.accountId)) === null ? taken.accountId : null;
};

/** To be freed when the profile has lost it; read before, so that nothing is freed that was taken again meanwhile. */
export const heldAddress = async ({ addresses }: AddressPorts, account: Account): Promise<TakenAddress | null> => {
  const address = addressOf(account);
  const taken = address === null ? null : await addresses.get(address);
  return taken?.accountId === account.id ? taken : null;
};

interface AddressMove<T> {
  readonly accountId: string;
  /** What the account has before; null for a new one. */
  readonly from: Account | null;
  /** Folded; null for none. */
  readonly to: string | null;
  readonly write: () => Promise<T>;
  /** Takes back what was written. */
  readonly undo: () => Promise<unknown>;
}

/**
 * Takes the new address, writes the profile, frees the old address. A process that dies in between leaves an address whose account does not have it, which
 * may be taken by another one.
 */
export const moveAddress = async <T>(ports: AddressPorts, { accountId, from, to, write, undo }: AddressMove<T>): Promise<T> => {
  const { addresses, clock } = ports;
  const held = from && (await heldAddress(ports, from));
  if (to !== null) await takeAddress(ports, to, accountId);
  const written = await write();
  if (to !== null && !(await addresses.keep({ address: to, accountId, takenAt: clock.now() })))
    await takeAgain(ports, { to, accountId, undo });
  if (held && held.address !== to) await addresses.free(held);
  return written;
};

/** For a process that stood still for so long that its address was given to another account, or freed by another change of the same account. */
const takeAgain = async (
  ports: AddressPorts,
  { to, accountId, undo }: Pick<AddressMove<unknown>, 'accountId' | 'undo'> & { to: string },
) => {
  try {
    await takeAddress(ports, to, accountId);
  } catch (error) {
    await undo();
    throw error;
  }
};

/** The account that has the address, whatever its state; `address` is folded. */
export const accountAt = async (ports: AddressPorts, address: string): Promise<Account | null> => {
  const read = async () => {
    const taken = await ports.addresses.get(address);
    const account = taken && (await ports.accounts.get(taken.accountId));
    return account && addressOf(account) === address ? account : null;
  };
  const found = await read();
  if (found !== null || ports.addresses.isComplete()) return found;
  await ports.takeEarlierAddresses();
  return read();
};

/** Reserves the addresses of accounts that an older release created, as long as such a process may be running. */
export const takeEarlierAddresses =
  ({ addresses, areEarlierTaken, takeEarlierPage }: EarlierPorts) =>
  async (): Promise<void> => {
    const isOver = await areEarlierTaken();
    for (let after = isOver ? null : await takeEarlierPage(null); after !== null; ) after = await takeEarlierPage(after);
    addresses.markComplete();
  };
