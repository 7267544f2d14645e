import type { ActedRequest, Claim, IdempotencyStore, KeptAnswer } from '@bubbles/http/routes/idempotency.ts';
import type { Clock } from '@bubbles/kernel/clock.ts';
import { type Ids, SEED_BYTES } from '@bubbles/kernel/ids.ts';
import type { Seal } from '@bubbles/kernel/seal.ts';
import { type Database, type Doc, type IndexSpec, sweepSlices } from '@bubbles/store/collection.ts';
import type { SealedFields } from './seals.ts';

/** A request under an idempotency key. `_id` is the hash of account with its life, route and key. */
interface IdempotencyDoc extends Doc {
  readonly fingerprint: string;
  /** Sealed: secrets that the request creates follow from it. */
  readonly seedSealed: string;
  /** How often somebody set out to act on it. */
  readonly runs: number;
  readonly leaseToken: string;
  readonly leaseUntil: Date;
  /** Null until the request was acted on; the body is sealed. */
  readonly answer: KeptAnswer | null;
  readonly createdAt: Date;
}

export const IDEMPOTENCY_INDEXES: readonly IndexSpec[] = [{ name: 'created_at', keys: { createdAt: 1 } }];

interface IdempotencyStoreOptions {
  readonly database: Database;
  readonly seal: Seal;
  readonly clock: Clock;
  readonly ids: Ids;
}

const KEPT_MS = 24 * 60 * 60 * 1000;
/** After it a process that died holds nobody up. One that is only slow acts beside the next one, with the same ids. */
const LEASE_MS = 10_000;

const NAME = 'idempotency_keys';

/** Keys and answers of one service, in a collection of its database. */
export function idempotencyStore({
  database,
  seal,
  clock,
  ids,
}: IdempotencyStoreOptions): IdempotencyStore & { readonly sealed: readonly SealedFields[] } {
  const collection = database.collection<IdempotencyDoc>(NAME);
  const keptSince = () => new Date(clock.now().getTime() - KEPT_MS);
  const lease = () => ({ leaseToken: ids.uuid(), leaseUntil: new Date(clock.now().getTime() + LEASE_MS) });
  const runOf = ({ _id, seedSealed, leaseToken, runs }: IdempotencyDoc): ActedRequest => ({
    id: _id,
    seed: seal.unseal(seedSealed, _id),
    leaseToken,
    isFirstRun: runs === 1,
  });
  const unused = (id: string, fingerprint: string): IdempotencyDoc => ({
    _id: id,
    fingerprint,
    seedSealed: seal.seal(ids.bytes(SEED_BYTES), id),
    runs: 1,
    ...lease(),
    answer: null,
    createdAt: clock.now(),
  });
  const mine = (doc: IdempotencyDoc): Claim => ({ kind: 'mine', request: runOf(doc) });

  /** What a key that was used means to this request; null when it changed meanwhile. */
  const claimUsed = async (found: IdempotencyDoc, next: IdempotencyDoc): Promise<Claim | null> => {
    const { _id, leaseToken, answer } = found;
    if (found.createdAt <= keptSince()) return (await collection.replaceOne({ _id, leaseToken }, next)) ? mine(next) : null;
    if (found.fingerprint !== next.fingerprint) return { kind: 'another request' };
    if (answer !== null)
      return { kind: 'answered', answer: { status: answer.status, body: answer.body && seal.unseal(answer.body, _id).toString() } };
    if (found.leaseUntil > clock.now()) return { kind: 'in progress' };
    const taken = await collection.findOneAndUpdate({ _id, leaseToken, answer: null }, { $set: lease(), $inc: { runs: 1 } });
    return taken && mine(taken);
  };

  return {
    sealed: [{ collection: NAME, fields: ['seedSealed', 'answer.body'] }],
    async claim(id, fingerprint) {
      for (;;) {
        const next = unused(id, fingerprint);
        if (await collection.insert(next)) return mine(next);
        const found = await collection.findOne({ _id: id });
        const claim = found && (await claimUsed(found, next));
        if (claim !== null) return claim;
      }
    },
    async keep({ id }, { status, body }) {
      // A concurrent run has the same seed and therefore the same answer.
      const answer = { status, body: body && seal.seal(Buffer.from(body), id) };
      await collection.updateOne({ _id: id, answer: null }, { $set: { answer } });
    },
    async forget({ id, leaseToken }) {
      await collection.deleteOne({ _id: id, leaseToken });
    },
    async release({ id, leaseToken }) {
      await collection.updateOne({ _id: id, leaseToken }, { $set: { leaseUntil: clock.now() } });
    },
    ensureIndexes: () => collection.ensureIndexes(IDEMPOTENCY_INDEXES),
    sweep: () => sweepSlices(collection, { createdAt: { $lte: keptSince() } }, 'createdAt'),
  };
}
