import { createHmac } from 'node:crypto';

/**
 * `t=<unix seconds>,v1=<lower-case hex>`: HMAC-SHA256 over `<t>.<body>` under the UTF-8 text of the whole secret, prefix included; one `v1` for each
 * secret, the newest first. The form of Stripe's signatures, so that its libraries verify ours.
 */
export function signature(secrets: readonly string[], body: Uint8Array, at: Date): string {
  const t = Math.floor(at.getTime() / 1000);
  const signed = secrets.map((secret) => `v1=${createHmac('sha256', secret).update(`${t}.`).update(body).digest('hex')}`);
  return [`t=${t}`, ...signed].join(',');
}
