import type { PersonRow } from '../domain/search-card.ts';

/** The analysed names of authors, shared by the indexes of all callers. */
export interface AuthorNames {
  /** Whether this person is followed. */
  has(id: string): boolean;
  /** Empty for somebody without a known name. */
  nameOf(id: string): string;
  /** From now on these people are followed; those without a row have no name yet. */
  follow(ids: readonly string[], rows: readonly PersonRow[]): void;
  /** Takes the rows of people who are followed. */
  update(rows: readonly PersonRow[]): void;
  /** Grows with every change of a name. */
  changes(): readonly string[];
  bytes(): number;
}

const BYTES_OF_ENTRY = 160;

export const createAuthorNames = (): AuthorNames => {
  const names = new Map<string, { readonly name: string; readonly rowVersion: number }>();
  const changes: string[] = [];
  const put = (row: PersonRow): void => {
    const known = names.get(row.id);
    if (known === undefined || row.rowVersion < known.rowVersion) return;
    names.set(row.id, { name: row.name, rowVersion: row.rowVersion });
    if (known.name !== row.name) changes.push(row.id);
  };
  return {
    has: (id) => names.has(id),
    nameOf: (id) => names.get(id)?.name ?? '',
    follow: (ids, rows) => {
      for (const id of ids) if (!names.has(id)) names.set(id, { name: '', rowVersion: -1 });
      rows.forEach(put);
    },
    update: (rows) => rows.forEach(put),
    changes: () => changes,
    bytes: () => names.size * BYTES_OF_ENTRY,
  };
};
