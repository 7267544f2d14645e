import { type Doc, sweepExpired } from '@bubbles/store/collection.ts';
import type { OpenCollection } from '@bubbles/store/indexed-collections.ts';
import { type Quota, quotaEnds } from '../../domain/quota.ts';
import type { QuotaStore } from '../../ports.ts';

interface Place {
  readonly joinId: string;
  readonly at: Date;
}

interface QuotaDoc extends Doc {
  readonly places: readonly Place[];
  readonly expiresAt: Date;
  /** Since when a place may belong to a join that never came to be; absent when all were looked at. */
  readonly uncheckedSince?: Date;
}

/** Replicas' clocks are never this far apart. */
const MAX_SKEW_MS = 15 * 60_000;
/** Quotas per run; the next run continues. */
const QUOTAS_PER_CHECK = 500;

/** Replicas with clocks of their own push in any order. */
const oldestOf = (places: readonly Place[], now: Date): Date =>
  new Date(places.reduce((oldest, { at }) => Math.min(oldest, at.getTime()), now.getTime()));

/** What a join is answered that took no place; null when it may try again. */
const refusalOf = ({ limit }: Quota, places: readonly Place[], { joinId, now }: { readonly joinId: string; readonly now: Date }) => {
  if (places.some((place) => place.joinId === joinId)) return 'reserved';
  return places.length >= limit ? { oldest: oldestOf(places, now) } : null;
};

export const openQuotas = (open: OpenCollection): QuotaStore => {
  const quotas = open<QuotaDoc>('quotas', [
    { name: 'expires_at', keys: { expiresAt: 1 } },
    { name: 'unchecked_since', keys: { uncheckedSince: 1 }, sparse: true },
  ]);

  /** One conditional write: there is a place, and the join has none yet. */
  const takeOnce = ({ key, limit, ...quota }: Quota, joinId: string, now: Date) =>
    quotas.updateOne(
      { _id: key, 'places.joinId': { $ne: joinId }, [`places.${limit - 1}`]: { $exists: false } },
      {
        $push: { places: { joinId, at: now } },
        $max: { expiresAt: quotaEnds({ key, limit, ...quota }, now) },
        $min: { uncheckedSince: now },
      },
      { upsert: true },
    );
  const freePassed = async ({ key, freeUntil }: Quota) => {
    if (freeUntil !== null) await quotas.updateOne({ _id: key }, { $pull: { places: { at: { $lte: freeUntil } } } });
  };
  /** Whether places were freed that were taken before the clock was set back: they would stay taken until it is where it was. */
  const freeAhead = async ({ key, freeUntil }: Quota, places: readonly Place[], now: Date): Promise<boolean> => {
    const latest = new Date(now.getTime() + MAX_SKEW_MS);
    if (freeUntil === null || !places.some(({ at }) => at > latest)) return false;
    await quotas.updateOne({ _id: key }, { $pull: { places: { at: { $gt: latest } } } });
    return true;
  };
  const release = async (key: string, joinId: string) => {
    await quotas.updateOne({ _id: key }, { $pull: { places: { joinId } } });
  };

  const check = async ({ _id, places }: QuotaDoc, before: Date, joins: ReadonlySet<string>): Promise<void> => {
    const orphans = places.filter(({ joinId, at }) => at <= before && !joins.has(joinId));
    for (const { joinId } of orphans) await release(_id, joinId);
    const next = places.find(({ at }) => at > before);
    const mark = next === undefined ? { $unset: { uncheckedSince: '' as const } } : { $set: { uncheckedSince: next.at } };
    // One whose places changed meanwhile keeps the older mark, and is looked at again.
    await quotas.updateOne({ _id, places: { $size: places.length - orphans.length } }, mark);
  };

  return {
    async reserve(quota, joinId, now) {
      for (;;) {
        await freePassed(quota);
        const result = await takeOnce(quota, joinId, now);
        if (result === 'updated' || result === 'inserted') return 'reserved';
        // A duplicate: it is full, the join has its place, or another one inserted the document first.
        const places = (await quotas.findOne({ _id: quota.key }))?.places ?? [];
        const refused = (await freeAhead(quota, places, now)) ? null : refusalOf(quota, places, { joinId, now });
        if (refused !== null) return refused;
      }
    },
    async release(keys, joinId) {
      for (const key of keys) if (key !== null) await release(key, joinId);
    },
    async releaseOrphans(before, known) {
      const found = await quotas.find({ uncheckedSince: { $lte: before } }, { sort: { uncheckedSince: 1 }, limit: QUOTAS_PER_CHECK });
      const joins = await known(found.flatMap(({ places }) => places.map(({ joinId }) => joinId)));
      for (const quota of found) await check(quota, before, joins);
    },
    sweep: (now) => sweepExpired(quotas, now),
  };
};
