import { DomainError } from '@bubbles/kernel/errors.ts';
import { withoutMedia } from '../domain/join.ts';
import type { JoinStore, MediaStore, ServedMedia, StoredMedia } from '../ports.ts';

/** Anybody with the key gets the file, as with public links of object stores. */
export const openMedia =
  ({ served }: { readonly served: ServedMedia | null }) =>
  async (key: string): Promise<StoredMedia> => {
    const file = (await served?.find(key)) ?? null;
    if (file === null) throw new DomainError('not_found', 'Not found.');
    return file;
  };

interface RemovalPorts {
  readonly joins: JoinStore;
  readonly media: MediaStore;
}

/** The bubble of a recording is gone for good, and its file with it. The key is forgotten last, so that a removal that failed is done again. */
export const removeMedia =
  ({ joins, media }: RemovalPorts) =>
  async (bubbleId: string): Promise<void> => {
    const join = await joins.ofBubble(bubbleId);
    if (join?.media === undefined) return;
    await media.remove(join.media.key);
    await joins.update(join.id, (before) => ({ state: withoutMedia(before), events: [] }));
  };
