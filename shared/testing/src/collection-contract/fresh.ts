import { randomUUID } from 'node:crypto';
import type { Collection, Database, Doc, FindOptions, UpdateResult } from '@bubbles/store/collection.ts';

/** A document of any shape: what the suite stores is its own affair. */
export interface Thing extends Doc {
  readonly [field: string]: unknown;
}

interface Upsert {
  readonly upsert?: boolean;
}

/** The port without the driver's types of filters and updates, which make nothing of documents of any shape. */
export interface Things extends Pick<Collection<Thing>, 'insert' | 'insertEach' | 'ensureIndexes'> {
  findOne(filter: object, options?: Omit<FindOptions, 'limit'>): Promise<Thing | null>;
  find(filter: object, options?: FindOptions): Promise<Thing[]>;
  updateOne(filter: object, update: object, options?: Upsert): Promise<UpdateResult>;
  updateMany(filter: object, update: object): Promise<number>;
  updateEach(updates: readonly { readonly filter: object; readonly update: object }[]): Promise<number>;
  findOneAndUpdate(
    filter: object,
    update: object,
    options?: Upsert & Pick<FindOptions, 'sort'> & { readonly returnDocument?: 'before' | 'after' },
  ): Promise<Thing | null>;
  replaceOne(filter: object, doc: Thing, options?: Upsert): Promise<boolean>;
  deleteOne(filter: object): Promise<number>;
  deleteMany(filter: object): Promise<number>;
  count(filter: object, options?: Pick<FindOptions, 'limit'>): Promise<number>;
}

export type MakeDatabase = () => Database;

/** A collection that no other test has, filled with `docs`. */
export const fresh = async (make: MakeDatabase, docs: readonly Thing[] = []): Promise<Things> => {
  const collection = make().collection<Thing>(`contract_${randomUUID()}`);
  await Promise.all(docs.map((doc) => collection.insert(doc)));
  return collection;
};

export const idsOf = (docs: readonly Thing[]): string[] => docs.map((doc) => doc._id);
