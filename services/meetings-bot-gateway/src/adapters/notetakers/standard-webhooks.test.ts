import { createHmac } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { later } from '../../../test/builders.ts';
import { webhookIdOf } from './standard-webhooks.ts';

/** Computed apart from this code. */
const SECRET = Buffer.from('AAECAwQFBgcICQoLDA0ODxAREhMUFRYX', 'base64');
const ID = 'msg_TestVector01';
const TIMESTAMP = '1795774800';
const SIGNATURE = 'v1,eLGeQC8o5pAFh7nGtoajMBXAQziWED0PDZLho6qZ9Es=';
const BODY = Buffer.from(
  '{"event":"bot.in_call_recording","data":{"data":{"code":"in_call_recording","sub_code":null,"updated_at":"2026-11-27T10:00:00.000000+00:00"},"bot":{"id":"0b85d2f9-d54a-47f6-b28d-4c63229f4035","metadata":{"join_id":"mj_01"}}}}',
);
const NOW = new Date(Number(TIMESTAMP) * 1000);

const headersOf = ({ prefix = 'webhook', id = ID, timestamp = TIMESTAMP, signature = SIGNATURE } = {}) => ({
  [`${prefix}-id`]: id,
  [`${prefix}-timestamp`]: timestamp,
  [`${prefix}-signature`]: signature,
});
const idOf = (headers: Readonly<Record<string, string>>, { now = NOW, body = BODY, secrets = [SECRET] } = {}) =>
  webhookIdOf({ headers, body }, { secrets, now });

describe('a webhook', () => {
  it.each(['webhook', 'svix'])('is believed with its headers named %s-*', (prefix) => {
    expect(idOf(headersOf({ prefix }))).toBe(ID);
  });

  it('is believed when one of its signatures is good', () => {
    expect(idOf(headersOf({ signature: `v1,${'A'.repeat(43)}= ${SIGNATURE}` }))).toBe(ID);
    expect(idOf(headersOf({ signature: `v1a,${'A'.repeat(86)}== ${SIGNATURE}` }))).toBe(ID);
  });

  it('is believed with any of our secrets', () => {
    expect(idOf(headersOf(), { secrets: [Buffer.alloc(24), SECRET] })).toBe(ID);
    expect(idOf(headersOf(), { secrets: [Buffer.alloc(24)] })).toBeNull();
  });

  it('is believed for five minutes, on a clock that differs either way', () => {
    const at = (seconds: number) => idOf(headersOf(), { now: new Date(NOW.getTime() + seconds * 1000) });
    expect([-301, -300, 300, 301].map(at)).toEqual([null, ID, ID, null]);
    expect(idOf(headersOf(), { now: later(0) })).toBeNull();
  });

  it.each([
    ['another id', { id: 'msg_TestVector02' }],
    ['no id', { id: '' }],
    ['another time', { timestamp: '1795774801' }],
    ['a time that is none', { timestamp: 'NaN' }],
    ['a time in exponents', { timestamp: '1.7957748e9' }],
    ['no signature', { signature: '' }],
    ['another version', { signature: SIGNATURE.replace('v1', 'v2') }],
    ['the digest alone', { signature: SIGNATURE.slice(3) }],
    ['a part of it', { signature: SIGNATURE.slice(0, -1) }],
  ])('is not believed with %s', (_what, fields) => {
    expect(idOf(headersOf(fields))).toBeNull();
  });

  it('has an id that can be kept', () => {
    const signed = (id: string) => {
      const digest = createHmac('sha256', SECRET).update(`${id}.${TIMESTAMP}.`).update(BODY).digest('base64');
      return idOf(headersOf({ id, signature: `v1,${digest}` }));
    };
    expect([signed('x'.repeat(256)), signed('x'.repeat(257)), signed('')]).toEqual(['x'.repeat(256), null, null]);
  });

  it('is not believed when a byte of it differs, or without headers', () => {
    const body = Buffer.from(BODY);
    body.writeUInt8(0x20, 5);
    expect(idOf(headersOf(), { body })).toBeNull();
    expect(idOf({})).toBeNull();
  });

  it('is not believed with the headers of two names', () => {
    const { 'webhook-id': id = '' } = headersOf();
    expect(idOf({ 'webhook-id': id, ...headersOf({ prefix: 'svix' }) })).toBeNull();
  });

  it('is never believed, and breaks nothing, whatever its headers and bytes are', () => {
    const text = fc.oneof(fc.string(), fc.constantFrom(ID, TIMESTAMP, SIGNATURE, 'v1,', ''));
    const headers = fc.dictionary(fc.constantFrom(...['webhook', 'svix'].flatMap((prefix) => Object.keys(headersOf({ prefix })))), text);
    fc.assert(
      fc.property(headers, fc.uint8Array(), (odd, bytes) => {
        expect(webhookIdOf({ headers: odd, body: bytes }, { secrets: [SECRET], now: NOW })).toBeNull();
      }),
    );
  });
});
