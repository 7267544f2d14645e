import type { Collection, Doc, Filter } from './collection.ts';

const SLICE = 500;

/** Deletes the oldest that match, slice by slice: no single operation takes long, and one that is cut off has done its part. */
export async function sweepSlices<T extends Doc & { readonly createdAt: Date }>(
  collection: Collection<T>,
  filter: Filter<T>,
): Promise<void> {
  for (;;) {
    const slice = await collection.find(filter, { sort: { createdAt: 1 }, limit: SLICE, projection: { _id: 1 } });
    if (slice.length === 0) return;
    // `_id` is a key of every document; the driver's filter type cannot tell for a T that is not known.
    await collection.deleteMany({ ...filter, _id: { $in: slice.map(({ _id }) => _id) } } as Filter<T>);
    if (slice.length < SLICE) return;
  }
}
