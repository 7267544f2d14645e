import { DomainError } from '@bubbles/shared/errors.ts';
import { type CursorCodec, type CursorScope, cursorFingerprint } from '@bubbles/shared/keyset.ts';
import { sortKey, sortMs } from '../../domain/bubble.ts';
import { decodePosition, encodePosition, type Position, RANK_RULES_VERSION } from '../../domain/search/rank.ts';
import type { CommentQuery, ListFilters, ListRow } from '../../ports.ts';

const RULES = 1;
const LIST = 1;
const SEARCH = 2;
const COMMENTS = 3;
/** Of a sort key. */
const SORT_MS_BYTES = 6;
/** Of any time. */
const TIME_BYTES = 8;

const sortMsBytes = (ms: number): Buffer => {
  const bytes = Buffer.alloc(SORT_MS_BYTES);
  bytes.writeUIntBE(ms, 0, SORT_MS_BYTES);
  return bytes;
};
const timeBytes = (at: Date): Buffer => {
  const bytes = Buffer.alloc(TIME_BYTES);
  bytes.writeBigInt64BE(BigInt(at.getTime()));
  return bytes;
};
const uuidBytes = (uuid: string): Buffer => Buffer.from(uuid.replaceAll('-', ''), 'hex');
const uuidFrom = (bytes: Buffer): string => bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');

/** Whose search, for what; `canonical` is equal for queries that rank alike. */
interface SearchScope {
  readonly userId: string;
  readonly canonical: string;
  readonly filters: ListFilters;
}

/** Cursors are bound to who reads and to what was asked, not to the credential or the size of a page. */
export function cursors(codec: CursorCodec) {
  const list = (userId: string, filters: ListFilters): CursorScope => ({
    kind: LIST,
    rules: RULES,
    fingerprint: cursorFingerprint([userId, JSON.stringify(filters)]),
  });
  const search = ({ userId, canonical, filters }: SearchScope): CursorScope => ({
    kind: SEARCH,
    rules: RANK_RULES_VERSION,
    fingerprint: cursorFingerprint([userId, canonical, JSON.stringify(filters)]),
  });
  const comments = (userId: string, bubbleId: string): CursorScope => ({
    kind: COMMENTS,
    rules: RULES,
    fingerprint: cursorFingerprint([userId, bubbleId]),
  });
  return {
    /** Position: created ms (0 for a legacy bubble) and the uuid. */
    afterRow({ id, createdAt }: ListRow, userId: string, filters: ListFilters): string {
      return codec.encode({ ...list(userId, filters), position: Buffer.concat([sortMsBytes(sortMs(createdAt)), uuidBytes(id)]) });
    },
    /** The sort key that the page goes on from; rejects with `invalid`. */
    rowPosition(cursor: string, userId: string, filters: ListFilters): string {
      const position = codec.decode(cursor, list(userId, filters));
      const ms = position.readUIntBE(0, SORT_MS_BYTES);
      return sortKey(ms === 0 ? null : new Date(ms), uuidFrom(position.subarray(SORT_MS_BYTES)));
    },
    afterHit: (position: Position, scope: SearchScope): string => codec.encode({ ...search(scope), position: encodePosition(position) }),
    hitPosition(cursor: string, scope: SearchScope): Position {
      const position = decodePosition(codec.decode(cursor, search(scope)));
      if (position === null) throw new DomainError('invalid', 'cursor: holds no position.');
      return position;
    },
    afterComment: ({ id, createdAt }: { readonly id: string; readonly createdAt: Date }, userId: string, bubbleId: string): string =>
      codec.encode({ ...comments(userId, bubbleId), position: Buffer.concat([timeBytes(createdAt), Buffer.from(id)]) }),
    commentPosition(cursor: string, userId: string, bubbleId: string): NonNullable<CommentQuery['after']> {
      const position = codec.decode(cursor, comments(userId, bubbleId));
      return { createdAt: new Date(Number(position.readBigInt64BE())), id: position.subarray(TIME_BYTES).toString() };
    },
  };
}
export type Cursors = ReturnType<typeof cursors>;
