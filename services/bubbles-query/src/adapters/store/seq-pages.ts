import type { Collection, Doc, Filter, FindOptions } from '@bubbles/shared/store/collection.ts';

/** What is written into a feed. */
export interface FedDoc extends Doc {
  /** Rises with every write. */
  readonly seq: number;
}

const DOCS_A_PAGE = 500;

/** The documents that match with a higher sequence number, in its order. Those at the border of two pages come twice: two writers may have drawn one number. */
export async function* seqPages<T extends FedDoc>(
  collection: Collection<T>,
  {
    filter,
    after,
    projection,
  }: { readonly filter: Filter<T>; readonly after: number; readonly projection: NonNullable<FindOptions['projection']> },
): AsyncGenerator<readonly T[]> {
  let bound: { readonly $gt: number } | { readonly $gte: number } = { $gt: after };
  for (;;) {
    // A filter of T with a bound on a field that every T has.
    const docs = await collection.find({ ...filter, seq: bound } as Filter<T>, { sort: { seq: 1 }, limit: DOCS_A_PAGE, projection });
    if (docs.length > 0) yield docs;
    const last = docs.at(-1);
    if (last === undefined || docs.length < DOCS_A_PAGE) return;
    bound = docs[0]?.seq === last.seq ? { $gt: last.seq } : { $gte: last.seq };
  }
}
