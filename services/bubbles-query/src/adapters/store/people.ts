import type { Doc, IndexSpec } from '@bubbles/store/collection.ts';
import type { OpenCollection } from '@bubbles/store/indexed-collections.ts';
import type { KnownPerson } from '../../domain/person.ts';
import { nameInId, nameText, type PersonRow } from '../../domain/search-card.ts';
import type { FillProgress, PeopleFeed, PeopleStore } from '../../ports.ts';
import { type FedDoc, feedSource } from './feeds.ts';
import { putIntoFeed, putUnlessNewer } from './unless-newer.ts';

export interface PersonDoc extends Omit<KnownPerson, 'id'>, FedDoc {}

const INDEXES: readonly IndexSpec[] = [{ name: 'seq', keys: { seq: 1 } }];

/** Below every revision of an account: only a recording named this person. */
const UNVERIFIED_REVISION = 0;
/** Fields of rows that never change because the name is the id itself. */
const CONSTANT_ROW = { rowVersion: 0, seq: 0 } as const;
const IDS_PER_QUERY = 1000;
const NAMES_ONLY = { name: 1, revision: 1, seq: 1 } as const;

const chunksOf = (ids: readonly string[]): string[][] =>
  Array.from({ length: Math.ceil(ids.length / IDS_PER_QUERY) }, (_, n) => ids.slice(n * IDS_PER_QUERY, (n + 1) * IDS_PER_QUERY));

const rowOf = ({ _id, name, revision, seq }: PersonDoc): PersonRow => ({ id: _id, rowVersion: revision, seq, name: nameText(name) });

interface FillDoc extends Doc, FillProgress {}
const FILL = { _id: 'people' } as const;

export const openPeople = (open: OpenCollection): PeopleStore & PeopleFeed => {
  const collection = open<PersonDoc>('people', INDEXES);
  const fills = open<FillDoc>('fills');
  const put = ({ id, ...person }: KnownPerson, seq: number): Promise<void> =>
    putIntoFeed(collection, { older: { _id: id, revision: { $lte: person.revision } }, update: { $set: person }, seq });
  return {
    put,
    mention: ({ id, name }, seq) => put({ id, name, email: null, revision: UNVERIFIED_REVISION }, seq),
    async byIds(ids) {
      const distinct = [...new Set(ids)];
      const docs = distinct.length === 0 ? [] : await collection.find({ _id: { $in: distinct }, revision: { $gt: UNVERIFIED_REVISION } });
      return new Map(docs.map(({ _id, name, email, revision }) => [_id, { id: _id, name, email, revision }]));
    },
    async fillProgress() {
      const doc = await fills.findOne(FILL);
      return doc ? { after: doc.after, done: doc.done } : { after: null, done: false };
    },
    saveFillProgress: ({ after, done }) => putUnlessNewer(fills, FILL, { $set: { after, done } }),
    async named(ids) {
      const told = ids.flatMap((id) => {
        const name = nameInId(id);
        return name === null ? [] : [{ id, ...CONSTANT_ROW, name: nameText(name) }];
      });
      const accounts = ids.filter((id) => nameInId(id) === null);
      const rows: PersonRow[] = [];
      for (const chunk of chunksOf(accounts)) {
        const docs = await collection.find({ _id: { $in: chunk } }, { projection: NAMES_ONLY });
        for (const doc of docs) rows.push(rowOf(doc));
      }
      return [...told, ...rows];
    },
    all: feedSource(collection, { filter: {}, projection: NAMES_ONLY, lengthOf: ({ name }) => name?.length ?? 0, rowOf }),
  };
};
