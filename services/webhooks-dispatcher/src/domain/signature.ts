import { createHmac } from 'node:crypto';

/**
 * `t=<unix seconds>,v1=<lower-case hex>`: HMAC-SHA256 over `<t>.<body>` under the UTF-8 text of the whole secret, prefix included. The form of Stripe's
 * signatures, so that its libraries verify ours.
 */
export function signature(secret: string, body: Uint8Array, at: Date): string {
  const t = Math.floor(at.getTime() / 1000);
  const v1 = createHmac('sha256', secret).update(`${t}.`).update(body).digest('hex');
  return `t=${t},v1=${v1}`;
}
