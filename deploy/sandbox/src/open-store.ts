import { join } from 'node:path';
import { systemClock } from '@bubbles/kernel/clock.ts';
import type { Log } from '@bubbles/kernel/log.ts';
import { StartupError } from '@bubbles/kernel/run-process.ts';
import { setAsideDataFile } from '@bubbles/store-embedded/data-file.ts';
import { DataFileRefused } from '@bubbles/store-embedded/data-file-faults.ts';
import { type EmbeddedStore, openEmbedded } from '@bubbles/store-embedded/open-embedded.ts';
import { MEMORY, type SandboxConfig } from './config.ts';

interface OpenedStore {
  readonly store: EmbeddedStore;
  /** The folder that holds the data of before; null when nothing was set aside. */
  readonly setAside: string | null;
}

const DATA_FILE = 'sandbox.sqlite';

const refusal = (error: unknown): StartupError => {
  const text = Error.isError(error) ? error.message : String(error);
  const isReplaceable = error instanceof DataFileRefused && error.reason === 'unreadable';
  return new StartupError(
    isReplaceable ? `${text} To start fresh: npm start -- --fresh, which keeps the old files in a folder beside.` : text,
    error,
  );
};

const setAside = (data: string): string | null => {
  const folder = join(data, `set-aside-${systemClock().now().toISOString().replace(/[:.]/g, '-')}`);
  return setAsideDataFile(join(data, DATA_FILE), folder) ? folder : null;
};

/** The store of the data folder, or an empty one beside what was set aside. */
export const openStore = ({ data, fresh }: Pick<SandboxConfig, 'data' | 'fresh'>, log: Log): OpenedStore => {
  const inMemory = data === MEMORY;
  try {
    const folder = fresh && !inMemory ? setAside(data) : null;
    return { store: openEmbedded({ path: inMemory ? MEMORY : join(data, DATA_FILE), log }), setAside: folder };
  } catch (error) {
    throw refusal(error);
  }
};
