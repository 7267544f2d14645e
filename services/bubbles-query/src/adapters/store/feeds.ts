import type { Collection, Doc, Filter, FindOptions } from '@bubbles/store/collection.ts';
import type { FeedSource, FeedSpan } from '../../ports.ts';

/** A document of a feed. */
export interface FedDoc extends Doc {
  /** Rises with every write. */
  readonly seq: number;
}

/** The first page is small, since nothing is known of its documents yet; the next ones hold as many as will have about so much text. */
const DOCS_PER_PAGE = { first: 64, least: 16, most: 500 } as const;
const CHARACTERS_PER_PAGE = 2 ** 22;

const nextLimit = (docs: number, characters: number): number =>
  Math.min(Math.max(Math.floor((docs * CHARACTERS_PER_PAGE) / Math.max(characters, 1)), DOCS_PER_PAGE.least), DOCS_PER_PAGE.most);

interface SpanQuery<T extends FedDoc> {
  readonly filter: Filter<T>;
  readonly span: FeedSpan;
  readonly projection: NonNullable<FindOptions['projection']>;
  /** How long the texts of a document are. */
  readonly lengthOf: (doc: T) => number;
}

const within = <T extends FedDoc>(
  filter: Filter<T>,
  lower: { readonly $gt: number } | { readonly $gte: number },
  { upTo }: FeedSpan,
): Filter<T> => {
  const seq = { ...lower, ...(upTo === null ? {} : { $lte: upTo }) };
  // A filter of T with bounds on a field that every T has.
  return { ...filter, seq } as Filter<T>;
};

/** The documents of a span in the order of their numbers. Those at the border of two pages come twice: two writers may have drawn one number. */
async function* seqPages<T extends FedDoc>(
  collection: Collection<T>,
  { filter, span, projection, lengthOf }: SpanQuery<T>,
): AsyncGenerator<readonly T[]> {
  let lower: { readonly $gt: number } | { readonly $gte: number } = { $gt: span.after };
  for (let limit: number = DOCS_PER_PAGE.first; ; ) {
    const docs = await collection.find(within(filter, lower, span), { sort: { seq: 1 }, limit, projection });
    if (docs.length > 0) yield docs;
    const last = docs.at(-1);
    if (last === undefined || docs.length < limit) return;
    limit = nextLimit(
      docs.length,
      docs.reduce((total, doc) => total + lengthOf(doc), 0),
    );
    lower = docs[0]?.seq === last.seq ? { $gt: last.seq } : { $gte: last.seq };
  }
}

/** A feed of documents as rows. */
export const feedSource = <T extends FedDoc, R>(
  collection: Collection<T>,
  { rowOf, ...query }: Omit<SpanQuery<T>, 'span'> & { readonly rowOf: (doc: T) => R },
): FeedSource<R> => ({
  async *read(span) {
    for await (const docs of seqPages(collection, { ...query, span })) yield docs.map(rowOf);
  },
  count: (span) => collection.count(within(query.filter, { $gt: span.after }, span)),
});
