import type { Collection, IndexSpec } from '@bubbles/store/collection.ts';
import type { KnownPerson } from '../../domain/person.ts';
import { nameInId, nameText, type PersonRow } from '../../domain/search-card.ts';
import type { PeopleFeed, PeopleStore } from '../../ports.ts';
import { type FedDoc, feedSource, putIntoFeed } from './feeds.ts';

export interface PersonDoc extends Omit<KnownPerson, 'id'>, FedDoc {}

export const PERSON_INDEXES: readonly IndexSpec[] = [{ name: 'seq', keys: { seq: 1 } }];

/** Before every revision of an account: only a recording named them. */
const HEARSAY = 0;
/** Of a name that is the id itself, so that neither ever changes. */
const THE_ONLY_ONE = { rev: 0, seq: 0 } as const;
const IDS_A_QUERY = 1000;
const NAMES_ONLY = { name: 1, revision: 1, seq: 1 } as const;

const chunksOf = (ids: readonly string[]): string[][] =>
  Array.from({ length: Math.ceil(ids.length / IDS_A_QUERY) }, (_, n) => ids.slice(n * IDS_A_QUERY, (n + 1) * IDS_A_QUERY));

const rowOf = ({ _id, name, revision, seq }: PersonDoc): PersonRow => ({ id: _id, rev: revision, seq, name: nameText(name) });

export const peopleStore = (collection: Collection<PersonDoc>): PeopleStore & PeopleFeed => {
  const put = ({ id, ...person }: KnownPerson, seq: number): Promise<void> =>
    putIntoFeed(collection, { older: { _id: id, revision: { $lte: person.revision } }, update: { $set: person }, seq });
  return {
    put,
    mention: ({ id, name }, seq) => put({ id, name, email: null, revision: HEARSAY }, seq),
    async byIds(ids) {
      const distinct = [...new Set(ids)];
      const docs = distinct.length === 0 ? [] : await collection.find({ _id: { $in: distinct }, revision: { $gt: HEARSAY } });
      return new Map(docs.map(({ _id, name, email, revision }) => [_id, { id: _id, name, email, revision }]));
    },
    async named(ids) {
      const told = ids.flatMap((id) => {
        const name = nameInId(id);
        return name === null ? [] : [{ id, ...THE_ONLY_ONE, name: nameText(name) }];
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
