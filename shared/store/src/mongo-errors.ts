import { errorCode, isDomainError } from '@bubbles/kernel/errors.ts';
import { MongoBulkWriteError, MongoInvalidArgumentError, MongoServerError } from 'mongodb';
import { storeRefusal, storeUnavailable } from './collection.ts';

const DUPLICATE_KEY = 11_000;

/** The server's codes for operations that are wrong in themselves; after any other error a retry may succeed. */
const WRONG_OPERATION = {
  badValue: 2,
  failedToParse: 9,
  typeMismatch: 14,
  overflow: 15,
  invalidBson: 22,
  pathNotViable: 28,
  conflictingUpdateOperators: 40,
  dollarPrefixedFieldName: 52,
  emptyFieldName: 56,
  dottedFieldName: 57,
  immutableField: 66,
  cannotCreateIndex: 67,
  indexOptionsConflict: 85,
  indexKeySpecsConflict: 86,
  cannotIndexParallelArrays: 171,
  notAnArray: 10_141,
  documentTooLarge: 10_334,
} as const;

const wrongCodes: ReadonlySet<unknown> = new Set(Object.values(WRONG_OPERATION));

export const isDuplicateKey = (error: unknown): boolean => error instanceof MongoServerError && errorCode(error) === DUPLICATE_KEY;

/** The positions of the writes of one batch that met a taken key; null when something else went wrong too. */
export const duplicatesAmong = (error: unknown): ReadonlySet<number> | null => {
  if (!(error instanceof MongoBulkWriteError) || error.result.getWriteConcernError() !== undefined) return null;
  const failed = [error.writeErrors].flat();
  return failed.every(({ code }) => code === DUPLICATE_KEY) ? new Set(failed.map(({ index }) => index)) : null;
};

const isWrong = (error: unknown): boolean => {
  if (error instanceof MongoServerError) return wrongCodes.has(errorCode(error)) || errorCode(error) === DUPLICATE_KEY;
  // The driver's encoder ends with a RangeError beyond 17 MiB.
  const cannotBeEncoded = Error.isError(error) && (error.name === 'BSONError' || error.name === 'RangeError');
  return error instanceof MongoInvalidArgumentError || cannotBeEncoded;
};

/** The store's error for one of the driver; the driver's text stays in the cause. */
export const storeError = (error: unknown): Error => {
  if (isDomainError(error)) return error;
  return isWrong(error) ? storeRefusal('The server refused the operation.', error) : storeUnavailable(error);
};
