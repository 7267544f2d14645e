import { createHmac } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import Stripe from 'stripe';
import { NOON } from '../../test/builders.ts';
import { newSecret } from './ids.ts';
import { signature } from './webhook-request.ts';

const secret = newSecret({ bytes: () => Buffer.alloc(32, 7) });
const body = Buffer.from('{"id":"evt_1","note":"café 🎈"}');

describe('section 6, signatures', () => {
  it('[DLV-03] v1 is the HMAC-SHA256 of t, a full stop and the exact bytes', () => {
    const v1 = createHmac('sha256', secret)
      .update(Buffer.concat([Buffer.from(`${NOON.getTime() / 1000}.`), body]))
      .digest('hex');
    expect(signature([secret], body, NOON)).toBe(`t=${NOON.getTime() / 1000},v1=${v1}`);
  });

  it('[DLV-02] [DLV-03] the stripe library verifies it unchanged', () => {
    const now = new Date();
    const { webhooks } = new Stripe('sk_test_unused');
    expect(webhooks.constructEvent(body, signature([secret], body, now), secret)).toMatchObject({ id: 'evt_1' });
    expect(() => webhooks.constructEvent(Buffer.concat([body, Buffer.from(' ')]), signature([secret], body, now), secret)).toThrow();
    expect(() => webhooks.constructEvent(body, signature([secret], body, NOON), secret)).toThrow(/tolerance/i);
  });

  it('[DLV-03] of two secrets each verifies, with the stripe library too; the old one comes last', () => {
    const now = new Date();
    const old = newSecret({ bytes: () => Buffer.alloc(32, 8) });
    const header = signature([secret, old], body, now);
    const { webhooks } = new Stripe('sk_test_unused');
    for (const one of [secret, old]) expect(webhooks.constructEvent(body, header, one)).toMatchObject({ id: 'evt_1' });
    expect(() => webhooks.constructEvent(body, header, newSecret({ bytes: () => Buffer.alloc(32, 9) }))).toThrow();
    const [t, newest, oldest] = header.split(',');
    expect([signature([secret], body, now), signature([old], body, now)]).toEqual([`${t},${newest}`, `${t},${oldest}`]);
  });

  it('[HOOK-01] a secret is whsec_ and 32 bytes in base64', () => {
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  });
});
