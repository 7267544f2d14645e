import { DomainError, errorCode, isDomainError } from '@bubbles/kernel/errors.ts';
import type { Filter, UpdateFilter } from 'mongodb';

/** Documents have string ids everywhere. Absent values are null, never undefined: an undefined in a filter or a document is refused. */
export interface Doc {
  readonly _id: string;
}

export type Direction = 1 | -1;

export interface IndexSpec {
  readonly name: string;
  readonly keys: Readonly<Record<string, Direction>>;
  readonly unique?: boolean;
  readonly sparse?: boolean;
}

export interface FindOptions {
  readonly sort?: Readonly<Record<string, Direction>>;
  readonly limit?: number;
  readonly projection?: Readonly<Record<string, 0 | 1>>;
}

/**
 * The part of MongoDB that stores may use: atomic per document, no transactions, pipeline updates, `$lookup`, `$text`, partial indexes,
 * arrayFilters or positional operators. Every method rejects with `DomainError('unavailable')` when the store does not answer in time.
 */
export interface Collection<T extends Doc> {
  readonly name: string;
  findOne(filter: Filter<T>, options?: Omit<FindOptions, 'limit'>): Promise<T | null>;
  find(filter: Filter<T>, options?: FindOptions): Promise<T[]>;
  /** False when a unique key (the `_id` or a unique index) is taken: "at most once" is an insert under the key of what may happen once. */
  insert(doc: T): Promise<boolean>;
  /** Many inserts in one round trip, in no order; of each what `insert` says. When one is refused, others may have happened. */
  insertEach(docs: readonly T[]): Promise<boolean[]>;
  /** With `upsert`, a lost race on the key is reported as `duplicate`. */
  updateOne(filter: Filter<T>, update: UpdateFilter<T>, options?: { readonly upsert?: boolean }): Promise<UpdateResult>;
  updateMany(filter: Filter<T>, update: UpdateFilter<T>): Promise<number>;
  /** Many updates of one document each in one round trip, in no order; how many of them matched. When one is refused, others may have happened. */
  updateEach(updates: readonly UpdateOne<T>[]): Promise<number>;
  /** The document after (default) or before the change; null when none matched, or when a unique key was taken and nothing was changed. */
  findOneAndUpdate(
    filter: Filter<T>,
    update: UpdateFilter<T>,
    options?: {
      readonly sort?: Readonly<Record<string, Direction>>;
      readonly returnDocument?: 'before' | 'after';
      readonly upsert?: boolean;
    },
  ): Promise<T | null>;
  /** True when a document matched, or was inserted by `upsert`, and no unique key was taken. */
  replaceOne(filter: Filter<T>, doc: T, options?: { readonly upsert?: boolean }): Promise<boolean>;
  /** How many were deleted. */
  deleteOne(filter: Filter<T>): Promise<number>;
  deleteMany(filter: Filter<T>): Promise<number>;
  count(filter: Filter<T>, options?: { readonly limit?: number }): Promise<number>;
  /**
   * Drops the indexes of these names and makes those that are missing. Rejects with `StartupError` when one conflicts with an index
   * that is there: of its name with another definition, or of another name with its keys.
   */
  ensureIndexes(indexes: readonly IndexSpec[], dropped?: readonly string[]): Promise<void>;
}

export interface UpdateOne<T extends Doc> {
  readonly filter: Filter<T>;
  readonly update: UpdateFilter<T>;
}

export type UpdateResult = 'updated' | 'inserted' | 'none' | 'duplicate';

export interface Database {
  collection<T extends Doc>(name: string): Collection<T>;
  /** Resolves when the store answered; rejects with `DomainError('unavailable')`. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

export type { Filter, UpdateFilter };

/** The store did not answer in time, or at all. A write may have been made all the same. */
export const storeUnavailable = (cause: unknown) =>
  new DomainError('unavailable', 'The service is temporarily unavailable.', { cause, retryAfterSeconds: 1 });

/** Kinds of store failures, for metrics and operators. */
export type StoreFault = 'pool_wait' | 'deadline' | 'access' | 'unreachable' | 'refused';

/** MongoDB error codes: Unauthorized, AuthenticationFailed, AtlasError. */
const ACCESS_CODES: readonly unknown[] = [13, 18, 8000];
const FAULT_NAMES: Readonly<Record<string, StoreFault>> = {
  MongoWaitQueueTimeoutError: 'pool_wait',
  TimeoutError: 'deadline',
  AbortError: 'deadline',
  MongoNetworkTimeoutError: 'deadline',
  MongoOperationTimeoutError: 'deadline',
};

/** Classifies an error from a collection or database. */
export const storeFaultOf = (error: unknown): StoreFault => {
  if (!isDomainError(error) || error.kind !== 'unavailable') return 'refused';
  const { cause } = error;
  if (!Error.isError(cause)) return 'unreachable';
  return ACCESS_CODES.includes(errorCode(cause)) ? 'access' : (FAULT_NAMES[cause.name] ?? 'unreachable');
};

const UNAUTHORIZED = 13;
/** MongoDB says `{ find: "notes", …`, others `(action: find)`. */
const NOT_AUTHORIZED = /^not authorized on (\S+) to execute command (?:\{ |\(action: )(\w+)/;
const NEEDS_LOGIN = /requires authentication/;

/** The database belongs to another replica set than the URL names; the message says where and to which. */
export class ForeignReplicaSetError extends Error {}

/** Describes for an operator what the database refuses to its user, without document content; null for every other error. */
export const accessRefusalOf = (error: unknown): string | null => {
  if (!isDomainError(error) || !Error.isError(error.cause)) return null;
  const { cause } = error;
  if (cause instanceof ForeignReplicaSetError) return cause.message;
  if (storeFaultOf(error) !== 'access') return null;
  if (errorCode(cause) !== UNAUTHORIZED) return 'refuses the user or the password';
  if (NEEDS_LOGIN.test(cause.message)) return 'asks for a user and a password';
  const [, database, command] = NOT_AUTHORIZED.exec(cause.message) ?? [];
  return command === undefined ? 'does not let the user do what the service needs' : `does not let the user ${command} in ${database}`;
};

/** The store was asked for something that it must not do: a fault of the code that asked. */
export const storeRefusal = (reason: string, cause?: unknown) =>
  new DomainError('internal', 'The store refused the operation.', { cause: new Error(reason, { cause }) });

const SLICE = 500;

/** Deletes what matches, the oldest first, slice by slice: no single operation takes long, and one that is cut off has done its part. Needs an index on `by`. */
export async function sweepSlices<T extends Doc>(collection: Collection<T>, filter: Filter<T>, by: keyof T & string): Promise<void> {
  for (;;) {
    const slice = await collection.find(filter, { sort: { [by]: 1 }, limit: SLICE, projection: { _id: 1 } });
    if (slice.length === 0) return;
    // `_id` is a key of every document; the driver's filter type cannot tell for a T that is not known.
    await collection.deleteMany({ ...filter, _id: { $in: slice.map(({ _id }) => _id) } } as Filter<T>);
    if (slice.length < SLICE) return;
  }
}

/** Deletes what is over at `now`; needs an index on `expiresAt`. */
export const sweepExpired = <T extends Doc & { readonly expiresAt: Date }>(collection: Collection<T>, now: Date): Promise<void> =>
  // As above.
  sweepSlices(collection, { expiresAt: { $lte: now } } as Filter<T>, 'expiresAt');

/** Methods that read and write documents; index management is not included. */
export const OPERATIONS = [
  'findOne',
  'find',
  'insert',
  'insertEach',
  'updateOne',
  'updateMany',
  'updateEach',
  'findOneAndUpdate',
  'replaceOne',
  'deleteOne',
  'deleteMany',
  'count',
] as const satisfies readonly (keyof Collection<Doc>)[];
