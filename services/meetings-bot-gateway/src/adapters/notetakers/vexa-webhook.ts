import { createHmac, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import type { ProviderEvent, ProviderWebhook } from '../../ports.ts';
import { parsedJson } from './provider-http.ts';
import { VexaId } from './vexa-meeting.ts';

const TIMESTAMP = /^\d{1,11}$/;
const SIGNATURE = /^sha256=([\da-f]{64})$/;
/** Older ones, and those of the future, are refused: they may be repeated by somebody who saw them. */
const TOLERANCE_MS = 5 * 60_000;

const Webhook = z.object({
  event_id: z.string().min(1).max(200),
  data: z
    .object({ meeting: z.object({ id: VexaId }).nullable().catch(null) })
    .nullable()
    .catch(null),
});

/** What a webhook of Vexa tells. The change of status in it has two shapes; neither is needed, since the run is asked. */
export const verifyVexaWebhook = (
  { headers, body }: ProviderWebhook,
  { secrets, now }: { readonly secrets: readonly Buffer[]; readonly now: Date },
): ProviderEvent | null => {
  const timestamp = headers['x-webhook-timestamp'] ?? '';
  const [, signature] = SIGNATURE.exec(headers['x-webhook-signature'] ?? '') ?? [];
  if (signature === undefined || !TIMESTAMP.test(timestamp) || Math.abs(now.getTime() - Number(timestamp) * 1000) > TOLERANCE_MS)
    return null;
  const given = Buffer.from(signature, 'hex');
  const isGenuine = secrets.some((secret) =>
    timingSafeEqual(createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest(), given),
  );
  const { data, success } = Webhook.safeParse(isGenuine ? parsedJson(Buffer.from(body).toString()) : null);
  return success ? { id: data.event_id, joinId: null, ref: data.data?.meeting?.id ?? null } : null;
};
