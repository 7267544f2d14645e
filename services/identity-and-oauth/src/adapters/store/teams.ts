import { type AggregateStore, type Stored, stateOf } from '@bubbles/store/aggregates.ts';
import type { Collection } from '@bubbles/store/collection.ts';
import type { Team } from '../../domain/team.ts';
import type { TeamStore } from '../../ports.ts';
import { readsOf } from './reads.ts';

export const teamStore = (aggregates: AggregateStore<Team>, collection: Collection<Stored<Team>>): TeamStore => ({
  ...readsOf(collection, (doc) => stateOf<Team>(doc)),
  insert: async (team) => {
    await aggregates.insert(team);
  },
  update: (id, change) => aggregates.update(id, (team) => ({ state: change(team), events: [] })),
});
