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

const QUOTAS_PER_CHECK = 100;

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
  const release = async (key: string, joinId: string) => {
    await quotas.updateOne({ _id: key }, { $pull: { places: { joinId } } });
  };

  return {
    async reserve(quota, joinId, now) {
      for (;;) {
        if (quota.freeUntil !== null) await quotas.updateOne({ _id: quota.key }, { $pull: { places: { at: { $lte: quota.freeUntil } } } });
        const result = await takeOnce(quota, joinId, now);
        if (result === 'updated' || result === 'inserted') return 'reserved';
        // A duplicate: it is full, the join has its place, or another one inserted the document first.
        const places = (await quotas.findOne({ _id: quota.key }))?.places ?? [];
        if (places.some((place) => place.joinId === joinId)) return 'reserved';
        const [oldest] = places.map(({ at }) => at).toSorted((a, b) => a.getTime() - b.getTime());
        if (oldest !== undefined && places.length >= quota.limit) return { oldest };
      }
    },
    release,
    async releaseOrphans(before, known) {
      for (;;) {
        const found = await quotas.find(
          { uncheckedSince: { $lte: before } },
          { sort: { uncheckedSince: 1 }, limit: QUOTAS_PER_CHECK },
        );
        const joins = await known([...new Set(found.flatMap(({ places }) => places.map(({ joinId }) => joinId)))]);
        for (const { _id, places, uncheckedSince } of found) {
          const orphans = places.filter(({ joinId, at }) => at <= before && !joins.has(joinId));
          for (const { joinId } of orphans) await release(_id, joinId);
          const [unchecked] = places.map(({ at }) => at).filter((at) => at > before);
          const mark = unchecked === undefined ? { $unset: { uncheckedSince: '' as const } } : { $set: { uncheckedSince: unchecked } };
          // One that was taken meanwhile leaves the mark as it is, since it is older.
          if (uncheckedSince !== undefined) await quotas.updateOne({ _id, 'places': { $size: places.length - orphans.length } }, mark);
        }
        if (found.length < QUOTAS_PER_CHECK) return;
      }
    },
    sweep: (now) => sweepExpired(quotas, now),
  };
};
