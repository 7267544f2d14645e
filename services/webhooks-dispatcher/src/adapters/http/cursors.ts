import { type CursorCodec, cursorFingerprint } from '@bubbles/kernel/cursors.ts';
import type { ListPosition } from '../../ports.ts';

/** What a cursor is bound to: whose list it is, and of what. */
type Scope = readonly (string | null)[];

interface ListCursors {
  write(last: ListPosition, scope: Scope): string;
  /** Rejects one that was made for another list, or not by us, with `invalid`. */
  read(cursor: string, scope: Scope): ListPosition;
}

const RULES = 1;
const MS_BYTES = 6;

/** Position: created ms in 6 bytes, then the id. */
const listCursors = (codec: CursorCodec, kind: number): ListCursors => {
  const binding = (scope: Scope) => ({ kind, rules: RULES, fingerprint: cursorFingerprint(scope) });
  return {
    write({ createdAt, id }, scope) {
      const ms = Buffer.alloc(MS_BYTES);
      ms.writeUIntBE(createdAt.getTime(), 0, MS_BYTES);
      return codec.encode({ ...binding(scope), position: Buffer.concat([ms, Buffer.from(id)]) });
    },
    read(cursor, scope) {
      const position = codec.decode(cursor, binding(scope));
      return { createdAt: new Date(position.readUIntBE(0, MS_BYTES)), id: position.subarray(MS_BYTES).toString() };
    },
  };
};

export interface Cursors {
  readonly deliveries: ListCursors;
  readonly subscriptions: ListCursors;
}

export const cursorsOf = (codec: CursorCodec): Cursors => ({ deliveries: listCursors(codec, 1), subscriptions: listCursors(codec, 2) });
