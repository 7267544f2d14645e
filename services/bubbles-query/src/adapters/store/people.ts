import type { Collection } from '@bubbles/shared/store/collection.ts';
import type { KnownPerson } from '../../domain/person.ts';
import type { PeopleStore } from '../../ports.ts';

export interface PersonDoc extends Omit<KnownPerson, 'id'> {
  readonly _id: string;
}

export const peopleStore = (collection: Collection<PersonDoc>): PeopleStore => ({
  async put({ id, ...person }) {
    await collection.updateOne({ _id: id, revision: { $lt: person.revision } }, { $set: person }, { upsert: true });
  },
  async byIds(ids) {
    const distinct = [...new Set(ids)];
    const docs = distinct.length === 0 ? [] : await collection.find({ _id: { $in: distinct } });
    return new Map(docs.map(({ _id, ...person }) => [_id, { id: _id, ...person }]));
  },
});
