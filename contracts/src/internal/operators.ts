import { z } from 'zod';
import { RecordedTime } from '../api/fields.ts';

/**
 * `POST /internal/v1/admin/seals`, operator → every service that seals: seals what it keeps again with its newest key, a page at a time. Whoever stops and
 * starts again passes over what is done.
 */
export const SealsRequest = z.object({
  /** The `next_after` of the page before; null for the first one. */
  after: z.string().nullable(),
  /** Counts only. */
  dry_run: z.boolean(),
});
export const SealsPage = z.object({
  newest_key: z.string(),
  /** All that this replica holds, the newest first. */
  keys: z.array(z.string()),
  /** Values of this page by the key that they were sealed with before. */
  sealed: z.record(z.string(), z.int()),
  resealed: z.int(),
  /** Values that no key of this replica opens, by what keeps them: `subscriptions.secretSealed`. */
  unreadable: z.record(z.string(), z.int()),
  next_after: z.string().nullable(),
  /** How long a link or cookie that carries a sealed value and is stored nowhere may still come back. */
  carried_seconds: z.int(),
});
export type SealsPage = z.infer<typeof SealsPage>;

/** `POST /internal/v1/admin/subscriptions/{id}/redeliveries`, operator → webhooks-dispatcher: queues again what was created in a span of time. */
export const RedeliveriesRequest = z.object({
  since: RecordedTime,
  /** Null stands for the present time. */
  until: RecordedTime.nullable(),
  /** What was received too; else what never was. */
  includes_received: z.boolean(),
  /** Counts a page of them, and queues nothing. */
  dry_run: z.boolean(),
  /** Of a dry run, the `next_after` of the page before. */
  after: z.string().nullable(),
});
export const Redeliveries = z.object({
  subscription_id: z.string(),
  /** Null unless they are only counted: the replay goes on in the background. */
  matching: z.int().nullable(),
  next_after: z.string().nullable(),
  replay_id: z.string().nullable(),
});
