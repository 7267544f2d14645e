import { type CursorCodec, type CursorScope, cursorFingerprint } from '@bubbles/shared/keyset.ts';
import type { Delivery, DeliveryStatus } from '../../domain/delivery.ts';
import type { DeliveryPage } from '../../ports.ts';

/** What a cursor is bound to. */
interface Scope {
  readonly userId: string;
  readonly subscriptionId: string;
  readonly status: DeliveryStatus | null;
}

export interface DeliveryCursors {
  write(last: Delivery, scope: Scope): string;
  /** Rejects one that was made for another list, or not by us, with `invalid`. */
  read(cursor: string, scope: Scope): NonNullable<DeliveryPage['position']>;
}

const KIND = 1;
const RULES = 1;
const MS_BYTES = 6;

/** Position: created ms in 6 bytes, then the delivery's id. */
export const deliveryCursors = (codec: CursorCodec): DeliveryCursors => {
  const binding = ({ userId, subscriptionId, status }: Scope): CursorScope => ({
    kind: KIND,
    rules: RULES,
    fingerprint: cursorFingerprint([userId, subscriptionId, status]),
  });
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
