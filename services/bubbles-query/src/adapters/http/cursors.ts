import { type CursorCodec, type CursorScope, cursorFingerprint } from '@bubbles/shared/keyset.ts';
import { sortKey } from '../../domain/bubble.ts';
import type { CommentQuery, ListFilters, ListRow } from '../../ports.ts';

const RULES = 1;
const LIST = 1;
const COMMENTS = 3;
const MS_BYTES = 6;
const UUID_BYTES = 16;

const msBytes = (ms: number): Buffer => {
  const bytes = Buffer.alloc(MS_BYTES);
  bytes.writeUIntBE(ms, 0, MS_BYTES);
  return bytes;
};
const uuidBytes = (uuid: string): Buffer => Buffer.from(uuid.replaceAll('-', ''), 'hex');
const uuidFrom = (bytes: Buffer): string => bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');

/** Cursors are bound to who reads and to what was asked, not to the credential or the size of a page. */
export function cursors(codec: CursorCodec) {
  const list = (userId: string, filters: ListFilters): CursorScope => ({
    kind: LIST,
    rules: RULES,
    fingerprint: cursorFingerprint([userId, JSON.stringify(filters)]),
  });
  const comments = (userId: string, bubbleId: string): CursorScope => ({
    kind: COMMENTS,
    rules: RULES,
    fingerprint: cursorFingerprint([userId, bubbleId]),
  });
  return {
    /** Position: created ms (0 for a legacy bubble) and the uuid. */
    afterRow({ id, createdAt }: ListRow, userId: string, filters: ListFilters): string {
      const [ms = '0'] = sortKey(createdAt, id).split('.');
      return codec.encode({ ...list(userId, filters), position: Buffer.concat([msBytes(Number(ms)), uuidBytes(id)]) });
    },
    /** The sort key that the page goes on from; rejects with `invalid`. */
    rowPosition(cursor: string, userId: string, filters: ListFilters): string {
      const position = codec.decode(cursor, list(userId, filters));
      const ms = position.readUIntBE(0, MS_BYTES);
      return sortKey(ms === 0 ? null : new Date(ms), uuidFrom(position.subarray(MS_BYTES, MS_BYTES + UUID_BYTES)));
    },
    afterComment: ({ id, createdAt }: { readonly id: string; readonly createdAt: Date }, userId: string, bubbleId: string): string =>
      codec.encode({ ...comments(userId, bubbleId), position: Buffer.concat([msBytes(createdAt.getTime()), Buffer.from(id)]) }),
    commentPosition(cursor: string, userId: string, bubbleId: string): NonNullable<CommentQuery['after']> {
      const position = codec.decode(cursor, comments(userId, bubbleId));
      return { createdAt: new Date(position.readUIntBE(0, MS_BYTES)), id: position.subarray(MS_BYTES).toString() };
    },
  };
}
export type Cursors = ReturnType<typeof cursors>;
