import { type CursorCodec, type CursorScope, cursorFingerprint } from '@bubbles/kernel/cursors.ts';
import { DomainError } from '@bubbles/kernel/errors.ts';
import { createdMsOf, sortKey } from '../../domain/bubble.ts';
import {
  decodeMoment,
  decodePosition,
  encodeMoment,
  encodePosition,
  isNear,
  type Position,
  RANK_RULES_VERSION,
} from '../../domain/search/rank.ts';
import type { CommentQuery, ListFilters, ListRow } from '../../ports.ts';

const RULES = 1;
/** Of a position in a list that an earlier release would misread. */
const FAR_RULES = 2;
const LIST = 1;
const SEARCH = 2;
const COMMENTS = 3;
const TIME_BYTES = 8;

const timeBytes = (at: Date): Buffer => {
  const bytes = Buffer.alloc(TIME_BYTES);
  bytes.writeBigInt64BE(BigInt(at.getTime()));
  return bytes;
};

/** What a genuine cursor holds; one of another release may hold something else. */
const known = <T>(position: T | null): T => {
  if (position === null) throw new DomainError('invalid', 'cursor: holds no position.');
  return position;
};

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
    afterRow({ id, createdAt }: ListRow, userId: string, filters: ListFilters): string {
      const createdMs = createdMsOf(createdAt);
      const scope = list(userId, filters);
      return codec.encode({ ...scope, rules: isNear(createdMs) ? RULES : FAR_RULES, position: encodeMoment({ createdMs, id }) });
    },
    /** The sort key that the page goes on from; rejects with `invalid`. */
    rowPosition(cursor: string, userId: string, filters: ListFilters): string {
      const { createdMs, id } = known(decodeMoment(codec.decode(cursor, { ...list(userId, filters), rules: [RULES, FAR_RULES] })));
      return sortKey(createdMs, id);
    },
    afterHit: (position: Position, scope: SearchScope): string => codec.encode({ ...search(scope), position: encodePosition(position) }),
    hitPosition: (cursor: string, scope: SearchScope): Position => known(decodePosition(codec.decode(cursor, search(scope)))),
    afterComment: ({ id, createdAt }: { readonly id: string; readonly createdAt: Date }, userId: string, bubbleId: string): string =>
      codec.encode({ ...comments(userId, bubbleId), position: Buffer.concat([timeBytes(createdAt), Buffer.from(id)]) }),
    commentPosition(cursor: string, userId: string, bubbleId: string): NonNullable<CommentQuery['after']> {
      const position = codec.decode(cursor, comments(userId, bubbleId));
      return { createdAt: new Date(Number(position.readBigInt64BE())), id: position.subarray(TIME_BYTES).toString() };
    },
  };
}
export type Cursors = ReturnType<typeof cursors>;
