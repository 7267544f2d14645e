import { existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@bubbles/kernel/clock.ts';
import { StartupError } from '@bubbles/kernel/run-process.ts';
import { setAsideDataFile } from '@bubbles/store-embedded/data-file.ts';
import { DataFileRefused } from '@bubbles/store-embedded/data-file-faults.ts';
import { type EmbeddedOptions, type EmbeddedStore, openEmbedded } from '@bubbles/store-embedded/open-embedded.ts';
import { MEMORY, type SandboxConfig } from './config.ts';

interface OpenedStore {
  readonly store: EmbeddedStore;
  /** The folder that holds the data of before; null when nothing was set aside. */
  readonly setAside: string | null;
}

const DATA_FILE = 'sandbox.sqlite';
/** Holds the files of the services, each in a folder of its own. */
const FILES = 'files';

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
  if (!setAsideDataFile(join(data, DATA_FILE), folder)) return null;
  if (existsSync(join(data, FILES))) renameSync(join(data, FILES), join(folder, FILES));
  return folder;
};

export interface SandboxFiles {
  /** The path of a folder, which need not be there yet. */
  folder(name: string): string;
  clear(): void;
  /** What is kept nowhere goes. */
  close(): void;
}

/** Opens the folder of files beside the store, or a temporary one for a sandbox in memory. */
export const openFiles = ({ data }: Pick<SandboxConfig, 'data'>): SandboxFiles => {
  const inMemory = data === MEMORY;
  const root = inMemory ? mkdtempSync(join(tmpdir(), 'sandbox-')) : join(data, FILES);
  const clear = () => rmSync(root, { recursive: true, force: true });
  return { folder: (name) => join(root, name), clear, close: () => (inMemory ? clear() : undefined) };
};

/** The store of the data folder, or an empty one beside what was set aside. */
export const openStore = (
  { data, fresh }: Pick<SandboxConfig, 'data' | 'fresh'>,
  told: Pick<EmbeddedOptions, 'log' | 'onFault'>,
): OpenedStore => {
  const inMemory = data === MEMORY;
  try {
    const folder = fresh && !inMemory ? setAside(data) : null;
    return { store: openEmbedded({ path: inMemory ? MEMORY : join(data, DATA_FILE), ...told }), setAside: folder };
  } catch (error) {
    throw refusal(error);
  }
};
