import { createdPosition, type DefineCursor } from '@bubbles/kernel/cursors.ts';

/** Each is bound to whose list it is, and of what. */
export const cursors = (define: DefineCursor) => ({ joins: define(1, createdPosition(6)) });
export type Cursors = ReturnType<typeof cursors>;
