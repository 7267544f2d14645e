import { createHmac, timingSafeEqual } from 'node:crypto';
import type { ProviderWebhook } from '../../ports.ts';

/** The same headers have the older name at accounts of before 2025-12-15. */
const PREFIXES = ['webhook', 'svix'] as const;
const TOLERANCE_MS = 5 * 60_000;
const MAX_ID_CHARACTERS = 256;

interface Proof {
  readonly secrets: readonly Buffer[];
  readonly now: Date;
}

const isSame = (left: Buffer, right: Buffer): boolean => left.length === right.length && timingSafeEqual(left, right);

/** The id of a webhook that its sender signed with one of the secrets, not long ago; null for any other (Standard Webhooks 1.0). */
export const webhookIdOf = ({ headers, body }: ProviderWebhook, { secrets, now }: Proof): string | null => {
  const prefix = PREFIXES.find((name) => headers[`${name}-id`] !== undefined);
  const id = headers[`${prefix}-id`] ?? '';
  const timestamp = headers[`${prefix}-timestamp`] ?? '';
  const isRecent = /^\d{1,12}$/.test(timestamp) && Math.abs(now.getTime() - Number(timestamp) * 1000) <= TOLERANCE_MS;
  if (!isRecent || id === '' || id.length > MAX_ID_CHARACTERS) return null;
  // Several while a secret is changed.
  const signatures = (headers[`${prefix}-signature`] ?? '').split(' ').map((signature) => Buffer.from(signature));
  const isSigned = secrets.some((secret) => {
    const digest = createHmac('sha256', secret).update(`${id}.${timestamp}.`).update(body).digest('base64');
    const expected = Buffer.from(`v1,${digest}`);
    return signatures.some((signature) => isSame(signature, expected));
  });
  return isSigned ? id : null;
};
