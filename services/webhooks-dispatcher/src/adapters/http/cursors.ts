import { createdPosition, type DefineCursor } from '@bubbles/kernel/cursors.ts';

/** Each is bound to whose list it is, and of what. */
export const cursors = (define: DefineCursor) => ({
  deliveries: define(1, createdPosition(6)),
  subscriptions: define(2, createdPosition(6)),
});
export type Cursors = ReturnType<typeof cursors>;
