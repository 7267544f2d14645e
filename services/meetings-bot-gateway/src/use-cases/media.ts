import { DomainError } from '@bubbles/kernel/errors.ts';
import type { ServedMedia, StoredMedia } from '../ports.ts';

/** Whoever has the key has the file, as with links that object stores give. */
export const openMedia =
  ({ served }: { readonly served: ServedMedia }) =>
  async (key: string): Promise<StoredMedia> => {
    const file = await served.find(key);
    if (file === null) throw new DomainError('not_found', 'Not found.');
    return file;
  };
