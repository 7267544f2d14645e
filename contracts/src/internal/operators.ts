import { z } from 'zod';
import { RecordedTime } from '../api/fields.ts';

/**
 * `POST /internal/v1/admin/seals`, operator → every service that seals: re-seals the stored values with its newest key, a page at a time. The
 * command can be stopped and run again: values that carry the newest key are skipped.
 */
export const SealsRequest = z.object({
  /** `next_after` of the previous page; null for the first page. */
  after: z.string().nullable(),
  /** True only counts and changes nothing. */
  dry_run: z.boolean(),
});
export const SealsPage = z.object({
  newest_key: z.string(),
  /** Ids of the keys that this replica holds, newest first. */
  keys: z.array(z.string()),
  /** Number of values on this page by the id of the key that had sealed them. */
  sealed: z.record(z.string(), z.int()),
  resealed: z.int(),
  /** Number of values that no key of this replica opens, by collection and field: `subscriptions.secretSealed`. */
  unreadable: z.record(z.string(), z.int()),
  next_after: z.string().nullable(),
  /** Longest remaining life, in seconds, of sealed values that live only in links and cookies. */
  carried_seconds: z.int(),
});
export type SealsPage = z.infer<typeof SealsPage>;

/** `POST /internal/v1/admin/subscriptions/{id}/redeliveries`, operator → webhooks-dispatcher: queues again the deliveries created in a span of time. */
export const RedeliveriesRequest = z.object({
  since: RecordedTime,
  /** Null means now. */
  until: RecordedTime.nullable(),
  /** True includes deliveries that were received; false takes only those that never were. */
  includes_received: z.boolean(),
  /** True counts one page of deliveries and queues nothing. */
  dry_run: z.boolean(),
  /** In a dry run, `next_after` of the previous page. */
  after: z.string().nullable(),
});
export const Redeliveries = z.object({
  subscription_id: z.string(),
  /** Null unless this is a dry run: the replay itself runs in the background. */
  matching: z.int().nullable(),
  next_after: z.string().nullable(),
  replay_id: z.string().nullable(),
});
