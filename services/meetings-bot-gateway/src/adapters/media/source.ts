import type { MediaFile } from '../../ports.ts';

/** Works on the bytes of a file, which are left when the work ends, and at once when the signal aborts: a source may wait for its provider. */
export const withSource = async (
  { bytes }: MediaFile,
  signal: AbortSignal,
  work: (bytes: AsyncIterable<Uint8Array>) => Promise<void>,
): Promise<void> => {
  const source = bytes[Symbol.asyncIterator]();
  const leave = () => void source.return?.();
  signal.addEventListener('abort', leave, { once: true });
  try {
    signal.throwIfAborted();
    await work({ [Symbol.asyncIterator]: () => source });
  } finally {
    signal.removeEventListener('abort', leave);
    await source.return?.();
  }
};
