import type { Account } from './account.ts';
import { type Grant, grantIsLive } from './grant.ts';

/** An app to which a user has allowed something: the grants of one client together. */
export interface ConnectedApp extends Pick<Grant, 'clientId' | 'scopes'> {
  /** Name of the app on the newest consent page. */
  readonly name: string;
  readonly grantedAt: Date;
  readonly lastUsedAt: Date | null;
}

interface Connected {
  readonly owner: Account;
  readonly now: Date;
  /** By the ids of grants. */
  readonly lastUsed: ReadonlyMap<string, Date>;
}

const newest = (dates: readonly Date[]): Date | null => dates.toSorted((a, b) => b.getTime() - a.getTime())[0] ?? null;

/** The apps whose grants go on; the last one to be allowed something comes first. */
export const connectedApps = (grants: readonly Grant[], { owner, now, lastUsed }: Connected): ConnectedApp[] => {
  const live = grants.filter((grant) => grantIsLive(grant, owner, now)).toSorted((a, b) => b.createdAt.getTime() - a.createdAt.getTime());
  return [...Map.groupBy(live, ({ clientId }) => clientId)].flatMap(([clientId, [last, ...earlier]]) => {
    if (last === undefined) return [];
    const all = [last, ...earlier];
    return {
      clientId,
      name: last.clientName,
      scopes: [...new Set(all.flatMap(({ scopes }) => scopes))],
      grantedAt: last.createdAt,
      lastUsedAt: newest(all.flatMap(({ id }) => lastUsed.get(id) ?? [])),
    };
  });
};
