import type { AggregateStore } from '@bubbles/shared/store/aggregates.ts';
import type { Collection } from '@bubbles/shared/store/collection.ts';
import type { Team } from '../../domain/team.ts';
import type { TeamStore } from '../../ports.ts';
import { readsOf } from './reads.ts';

export type TeamDoc = Omit<Team, 'id'> & { readonly _id: string };

const teamOf = ({ _id, name, plan, archived, domain, discoverable, createdAt, channels }: TeamDoc): Team => ({
  id: _id,
  name,
  plan,
  archived,
  domain,
  discoverable,
  createdAt,
  channels,
});

/** Two views of the same documents, as with accounts. */
export const teamStore = (aggregates: AggregateStore<Team>, collection: Collection<TeamDoc>): TeamStore => ({
  insert: async (team) => {
    await aggregates.insert(team);
  },
  ...readsOf(collection, teamOf),
  update: (id, change) => aggregates.update(id, (team) => ({ state: change(team), events: [] })),
});
