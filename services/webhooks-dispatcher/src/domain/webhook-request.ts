import { createHmac } from 'node:crypto';
import type { Delivery } from './delivery.ts';

/**
 * `t=<unix seconds>,v1=<lower-case hex>`: HMAC-SHA256 over `<t>.<body>` under the UTF-8 text of the whole secret, prefix included; one `v1` for each
 * secret, the newest first. It has the form of Stripe's signatures, so that Stripe's libraries verify it.
 */
export function signature(secrets: readonly string[], body: Uint8Array, at: Date): string {
  const t = Math.floor(at.getTime() / 1000);
  const signed = secrets.map((secret) => `v1=${createHmac('sha256', secret).update(`${t}.`).update(body).digest('hex')}`);
  return [`t=${t}`, ...signed].join(',');
}

export interface RequestNames {
  /** The service-specific part of the header names, `X-<name>-Signature`. */
  readonly headerName: string;
  readonly userAgent: string;
}

/** In the case that the interface documents: some gateways in front of receivers pass names on unchanged and look them up by case. */
export const requestHeaders = (
  { headerName, userAgent }: RequestNames,
  { id, type }: Pick<Delivery, 'id' | 'type'>,
  signed: string,
): Readonly<Record<string, string>> => ({
  'Content-Type': 'application/json',
  'User-Agent': userAgent,
  [`X-${headerName}-Event`]: type,
  [`X-${headerName}-Delivery`]: id,
  [`X-${headerName}-Signature`]: signed,
});
