import type { CreatedPosition } from '@bubbles/kernel/cursors.ts';

export const NEWEST_FIRST = { createdAt: -1, _id: -1 } as const;

/** The filter of rows that come after `position`. */
export const afterPosition = (position: CreatedPosition | null) =>
  position === null
    ? {}
    : { $or: [{ createdAt: { $lt: position.createdAt } }, { createdAt: position.createdAt, _id: { $lt: position.id } }] };
