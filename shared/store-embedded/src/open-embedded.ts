import type { Log } from '@bubbles/kernel/log.ts';
import { type Collection, type Database, type Doc, storeUnavailable } from '@bubbles/store/collection.ts';
import { openDataFile } from './data-file.ts';
import type { LoadedRow } from './data-file-content.ts';
import { createEmbeddedCollection } from './embedded-collection.ts';
import { createFileJournal, createMemoryJournal, type Journal } from './journal.ts';
import type { Query } from './query.ts';
import { createTable, type Table } from './table.ts';

/** Several databases in one process: in one file, or in memory alone. */
export interface EmbeddedStore {
  database(name: string): Database;
  /** Drops all documents of all databases; indexes stay declared. */
  clear(): void;
  /** Keeps what is pending and lets go of the file. */
  close(): Promise<void>;
}

export interface EmbeddedOptions {
  /** The data file, made when it is not there, or `:memory:`. */
  readonly path: string;
  readonly log: Log;
  /** Called once when the file cannot be written, and with null when it is written again. */
  readonly onFault?: (fault: unknown) => void;
  /** Called with each query that no index serves: `database/collection`, and what was asked. */
  readonly onScan?: (space: string, query: Query) => void;
}

interface Opened {
  readonly journal: Journal;
  readonly loaded: readonly LoadedRow[];
}

const openJournal = ({ path, log, onFault }: EmbeddedOptions): Opened => {
  if (path === ':memory:') return { journal: createMemoryJournal(), loaded: [] };
  const { file, rows, counted } = openDataFile(path);
  if (!counted) log.warn('no counter of commits tells whether the data file is complete', { path });
  return { loaded: rows, journal: createFileJournal(file, onFault) };
};

/** Throws `DataFileRefused` when the file is in use, damaged, behind what was answered or cannot be read. */
export function openEmbedded(options: EmbeddedOptions): EmbeddedStore {
  const { path, log, onScan } = options;
  const { journal, loaded } = openJournal(options);
  const rowsBySpace = Map.groupBy(loaded, (row) => row.space);
  let lastNumber = loaded.at(-1)?.number ?? 0;
  let open = true;

  const nextNumber = () => {
    lastNumber += 1;
    return lastNumber;
  };
  const tables = new Map<string, Table>();
  for (const [space, rows] of rowsBySpace) tables.set(space, createTable(nextNumber, rows));
  log.info('embedded store opened', { path, documents: loaded.length });

  const tableOf = (space: string): Table => {
    const known = tables.get(space) ?? createTable(nextNumber, []);
    tables.set(space, known);
    return known;
  };
  const tellScan = (space: string) => (query: Query) => {
    if (onScan) onScan(space, query);
    else log.debug('no index serves a query', { space, paths: Object.keys(query.filter), sort: Object.keys(query.sort ?? {}) });
  };
  const collection = <T extends Doc>(database: string, name: string): Collection<T> => {
    const space = `${database}/${name}`;
    return createEmbeddedCollection<T>({ name, space, table: tableOf(space), journal, onScan: tellScan(space), isOpen: () => open });
  };

  return {
    database: (database) => ({
      collection: <T extends Doc>(name: string) => collection<T>(database, name),
      async ping() {
        if (!open) throw storeUnavailable(new Error('The store is closed.'));
        await journal.flushed();
      },
      close: () => journal.flushed(),
    }),
    clear() {
      journal.clear();
      for (const known of tables.values()) known.clear();
    },
    async close() {
      if (!open) return;
      open = false;
      await journal.close();
    },
  };
}
