import type { FileHandle } from 'node:fs/promises';
import { mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { DomainError, errorCode } from '@bubbles/kernel/errors.ts';
import type { Ids } from '@bubbles/kernel/ids.ts';
import type { MediaFile, MediaStore, ServedMedia } from '../../ports.ts';
import { withSource } from './source.ts';

interface FileStoreOptions {
  readonly folder: string;
  readonly ids: Pick<Ids, 'uuid'>;
}

type FileStore = MediaStore & ServedMedia;

/** Nothing else opens a file: no name of a caller reaches the file system. */
const KEY = /^[0-9a-f]{64}$/;
const UNFINISHED = 'unfinished';
/** Before the content stands what it is. */
const HEAD_BYTES = 256;
const CHUNK_BYTES = 64 * 1024;

interface Head {
  readonly contentType: string;
  readonly tag: string;
}

const headOf = (head: Head): Buffer => Buffer.from(JSON.stringify(head).padEnd(HEAD_BYTES));

const readHead = async (handle: FileHandle): Promise<Head> => {
  const { buffer } = await handle.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
  // Written by `headOf`.
  return JSON.parse(buffer.toString()) as Head;
};

const unavailable = (what: string, cause?: unknown): DomainError => new DomainError('unavailable', what, { cause });

/** For the file system, whose errors name paths at most. */
const kept = async <T>(work: Promise<T>): Promise<T> => {
  try {
    return await work;
  } catch (cause) {
    throw unavailable('The file cannot be kept.', cause);
  }
};

const syncFolder = async (folder: string): Promise<void> => {
  const handle = await open(folder, 'r');
  await handle.sync().finally(() => handle.close());
};

const opened = async (path: string): Promise<FileHandle | null> => {
  try {
    return await open(path, 'r');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null;
    throw unavailable('The file cannot be read.', error);
  }
};

async function* readFrom(path: string, { tag, start, end }: { readonly tag: string; readonly start: number; readonly end: number }) {
  const handle = await opened(path);
  if (handle === null) throw unavailable('The file was removed.');
  try {
    if ((await readHead(handle)).tag !== tag) throw unavailable('The file was replaced.');
    for (let at = start; at < end; ) {
      const size = Math.min(CHUNK_BYTES, end - at);
      const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(size), 0, size, HEAD_BYTES + at);
      if (bytesRead === 0) throw unavailable('The file ends too early.');
      at += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await handle.close();
  }
}

/** Keeps files in a folder that all replicas share: for the sandbox, for development and for a machine of one's own. */
export const createFileStore = ({ folder, ids }: FileStoreOptions): FileStore => {
  const unfinished = join(folder, UNFINISHED);
  const pathOf = (key: string): string => {
    if (!KEY.test(key)) throw new TypeError('No key of a file.');
    return join(folder, key);
  };

  /** Removes files of a process that died or lost the recording to this one. */
  const removeUnfinished = async (key: string): Promise<void> => {
    const names = await readdir(unfinished).catch((error: unknown) => {
      if (errorCode(error) === 'ENOENT') return [];
      throw error;
    });
    await Promise.all(names.filter((name) => name.startsWith(key)).map((name) => rm(join(unfinished, name), { force: true })));
  };
  const fill = async (handle: FileHandle, { contentType, length, bytes }: MediaFile, signal: AbortSignal): Promise<void> => {
    await kept(handle.writeFile(headOf({ contentType, tag: ids.uuid() })));
    let total = 0;
    for await (const chunk of bytes) {
      signal.throwIfAborted();
      await kept(handle.writeFile(chunk));
      total += chunk.length;
    }
    if (length !== null && total !== length) throw unavailable('The file is not as long as it should be.');
    await kept(handle.sync());
  };
  const write = async (key: string, file: MediaFile, signal: AbortSignal): Promise<void> => {
    const path = join(unfinished, `${key}.${ids.uuid()}`);
    const handle = await kept(open(path, 'wx', 0o600));
    try {
      await fill(handle, file, signal).finally(() => handle.close());
      signal.throwIfAborted();
      await kept(rename(path, pathOf(key)));
      await kept(syncFolder(folder));
    } catch (error) {
      await rm(path, { force: true });
      throw error;
    }
  };

  return {
    async put(key, file, signal) {
      pathOf(key);
      await withSource(file, signal, async (bytes) => {
        await kept(mkdir(unfinished, { recursive: true, mode: 0o700 }));
        await kept(removeUnfinished(key));
        await write(key, { ...file, bytes }, signal);
      });
    },
    async remove(key) {
      await kept(rm(pathOf(key), { force: true }));
      await kept(removeUnfinished(key));
    },
    async find(key) {
      if (!KEY.test(key)) return null;
      const handle = await opened(pathOf(key));
      if (handle === null) return null;
      try {
        const { contentType, tag } = await readHead(handle);
        const length = (await handle.stat()).size - HEAD_BYTES;
        return { contentType, tag, length, bytes: (start, end) => readFrom(pathOf(key), { tag, start, end }) };
      } finally {
        await handle.close();
      }
    },
  };
};
