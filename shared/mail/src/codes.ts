import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Clock } from '@bubbles/kernel/clock.ts';
import type { Ids } from '@bubbles/kernel/ids.ts';
import { type Doc, sweepExpired } from '@bubbles/store/collection.ts';
import type { OpenCollection } from '@bubbles/store/indexed-collections.ts';

/** `_id` is the id of the flow. */
interface CodeDoc extends Doc {
  /** HMAC-SHA256 of flow and code under the flow's secret, which is stored nowhere. */
  readonly hash: string;
  readonly tries: number;
  readonly expiresAt: Date;
}

/** What was asked in one browser or by one agent; `secret` is what only that one has. */
interface CodeFlow {
  readonly flowId: string;
  readonly secret: string;
}

interface CodeTry {
  readonly code: string;
  /** May happen twice. */
  readonly whenRight?: () => Promise<void>;
}

const CODES = 1_000_000;
const DIGITS = 6;
const MAX_TRIES = 5;
const DRAW_BYTES = 3;
/** The largest multiple of `CODES` that a draw can stay below: larger ones would favour small codes. */
const DRAWS = Math.floor(2 ** (8 * DRAW_BYTES) / CODES) * CODES;

const drawCode = ({ bytes }: Ids): string => {
  for (;;) {
    const drawn = bytes(DRAW_BYTES).readUIntBE(0, DRAW_BYTES);
    if (drawn < DRAWS) return String(drawn % CODES).padStart(DIGITS, '0');
  }
};

const hashOf = ({ flowId, secret }: CodeFlow, code: string): string =>
  createHmac('sha256', secret).update(`mailed code\n${flowId}\n${code}`).digest('hex');

const isSame = (one: string, other: string): boolean => {
  const [left, right] = [Buffer.from(one), Buffer.from(other)];
  return left.length === right.length && timingSafeEqual(left, right);
};

interface CodesOptions {
  readonly open: OpenCollection;
  readonly clock: Clock;
  readonly ids: Ids;
}

/** Codes of six digits that prove access to a mailbox. Each is valid for one flow and five tries. */
export const createCodes = ({ open, clock, ids }: CodesOptions) => {
  const codes = open<CodeDoc>('mailed_codes', [{ name: 'expires_at', keys: { expiresAt: 1 } }]);
  return {
    /** The code for the mail. It replaces the one that the flow had, and its tries. */
    async issue({ expiresAt, ...flow }: CodeFlow & { readonly expiresAt: Date }): Promise<string> {
      const code = drawCode(ids);
      await codes.replaceOne({ _id: flow.flowId }, { _id: flow.flowId, hash: hashOf(flow, code), tries: 0, expiresAt }, { upsert: true });
      return code;
    },
    /**
     * Counts the try before it compares. `right` is answered once; `over` when the code was used, expired, or tried too often. `whenRight` comes before the
     * code is spent, so that whoever finds it spent also finds what came of it. When it fails, the try does not count: only the right code comes that far.
     */
    async check({ code, whenRight, ...flow }: CodeFlow & CodeTry): Promise<'right' | 'wrong' | 'over'> {
      const live = { _id: flow.flowId, expiresAt: { $gt: clock.now() }, tries: { $lt: MAX_TRIES } };
      const counted = await codes.findOneAndUpdate(live, { $inc: { tries: 1 } });
      if (counted === null) return 'over';
      if (!isSame(counted.hash, hashOf(flow, code))) return 'wrong';
      try {
        await whenRight?.();
      } catch (error) {
        await codes.updateOne({ _id: flow.flowId, hash: counted.hash }, { $inc: { tries: -1 } });
        throw error;
      }
      return (await codes.deleteOne({ _id: flow.flowId, hash: counted.hash })) > 0 ? 'right' : 'over';
    },
    sweep: () => sweepExpired(codes, clock.now()),
  };
};
