import { expect } from '@jest/globals';
import { type Check, type Checks, expectRefusal, type Lab, NOT_FOUND, REFUSED } from './lab.ts';

/** Lists with each query; all are answered by `status`. */
const lists =
  (status: 200 | 400, ...queries: readonly string[]): Check =>
  async (lab) => {
    const { pat: as } = await lab.world.user();
    for (const query of queries) {
      const answer = await lab.call(`/v1/bubbles?${query}`, { as });
      expect([query, answer.status]).toEqual([query, status]);
      if (status === 400) expectRefusal(answer, REFUSED);
    }
  };
const limits = (...values: readonly string[]) => lists(400, ...values.map((value) => `limit=${value}`));
const after = (status: 200 | 400, ...values: readonly string[]) =>
  lists(status, ...values.flatMap((value) => [`created_after=${value}`, `created_before=${value}`]));
const searches = async (lab: Lab, as: string, q: string) => lab.call(`/v1/bubbles/search?q=${q}`, { as });
const subscribe = async (lab: Lab, body: object) => {
  const { pat: as } = await lab.proUser();
  return lab.call('/v1/webhooks', {
    method: 'POST',
    as,
    body: { url: 'https://receiver.example.com/', events: ['bubble.ready'], ...body },
  });
};

export const INPUT_CHECKS: Checks = {
  'NOSQLINJECTION-02': async (lab) => {
    await lists(200, 'team_id[]=a', 'team_id[$ne]=a')(lab);
    await lists(400, 'team_id=a&team_id=b')(lab);
  },
  'NOSQLINJECTION-05': async (lab) => {
    const { id, pat: as } = await lab.world.user();
    await lab.world.bubble({ type: 'custom_image', participant_ids: [id] });
    for (const text of ['$where', '$function', '$accumulator', 'function(){while(1);}', '{"$gt":""}', "';sleep(9)//"]) {
      const value = encodeURIComponent(text);
      expect((await lab.call(`/v1/bubbles?team_id=${value}`, { as })).json.data).toEqual([]);
      expect((await searches(lab, as, value)).status).toBe(200);
      expect([400, 404]).toContain((await lab.call(`/v1/bubbles/${value}`, { as })).status);
    }
  },
  'NOSQLINJECTION-07': async (lab) => {
    for (const body of [{ events: [{ $ne: 1 }] }, { filters: { bubble_types: { $in: [] } } }])
      expectRefusal(await subscribe(lab, body), REFUSED);
    expect((await subscribe(lab, { filters: { $where: '1' } })).json.filters).toBeNull();
  },
  'NOSQLINJECTION-10': async (lab) => {
    const { id, pat: as } = await lab.world.user();
    await lab.world.bubble({ type: 'custom_image', participant_ids: [id] });
    for (const value of ['507f1f77bcf86cd799439011', '1', 'null', 'undefined', 'NaN', 'true'])
      for (const name of ['team_id', 'space_id']) expect((await lab.call(`/v1/bubbles?${name}=${value}`, { as })).json.data).toEqual([]);
  },
  'PROTOTYPEPOLLUTION-02': async (lab) => {
    const { session_token: as } = await lab.proUser();
    for (const body of ['{"name":"a","constructor":{"prototype":{"x":1}}}', '{"name":"a","__proto__":{"x":1}}'])
      expect([201, 400]).toContain((await lab.call('/v1/api-keys', { method: 'POST', as, body })).status);
    expect((await lab.call('/v1/openapi.json')).text).not.toContain('"x":1');
  },
  'PROTOTYPEPOLLUTION-04': async (lab) => {
    const { pat: as } = await lab.proUser();
    const body = '{"url":"https://receiver.example.com/","events":["bubble.ready"],"filters":{"__proto__":{"only_my_bubbles":true}}}';
    const answer = await lab.call('/v1/webhooks', { method: 'POST', as, body });
    if (answer.status === 201) expect(answer.json.filters).toBeNull();
    else expectRefusal(answer, REFUSED);
    expect((await subscribe(lab, { filters: {} })).json.filters).toBeNull();
  },
  'PROTOTYPEPOLLUTION-05': async (lab) => {
    const { pat: as } = await lab.proUser();
    for (const path of ['/v1/bubbles/', '/v1/webhooks/']) {
      const absent = await lab.call(`${path}absent`, { as });
      for (const id of ['__proto__', 'constructor', 'hasOwnProperty', 'toString', 'prototype']) {
        const answer = await lab.call(path + id, { as });
        expectRefusal(answer, NOT_FOUND);
        expect(answer.text).toBe(absent.text);
      }
    }
  },
  'PROTOTYPEPOLLUTION-07': async (lab) => {
    const { session_token: as } = await lab.proUser();
    for (const body of ['{"constructor":1}', '{"toString":1}', '{"name":{"constructor":1,"toString":2}}', '{"__proto__":null}'])
      expectRefusal(await lab.call('/v1/api-keys', { method: 'POST', as, body }), REFUSED);
  },
  'STRINGSUNICODE-01': async (lab) => {
    const { pat: as } = await lab.world.user();
    for (const q of ['%00', 'a%00b']) expectRefusal(await searches(lab, as, q), REFUSED);
    await lists(400, 'team_id=%00', 'space_id=a%00')(lab);
    expectRefusal(await subscribe(lab, { team_id: 'a\u0000' }), REFUSED);
  },
  'STRINGSUNICODE-02': async (lab) => {
    const { session_token: as } = await lab.proUser();
    expectRefusal(await lab.call('/v1/api-keys', { method: 'POST', as, body: '{"name":"\\ud800"}' }), REFUSED);
    expectRefusal(await subscribe(lab, { url: 'https://receiver.example.com/\ud800' }), REFUSED);
  },
  'STRINGSUNICODE-04': async (lab) => {
    const { pat: as } = await lab.world.user();
    for (const q of ['%FF%FE', '%ED%A0%80', '%C0%80', '%']) expectRefusal(await searches(lab, as, q), REFUSED);
  },
  'STRINGSUNICODE-06': async (lab) => {
    const { session_token: as } = await lab.proUser();
    for (const name of ['a\u200bb', 'a\u202eb', '\u0430dmin']) {
      const answer = await lab.call('/v1/api-keys', { method: 'POST', as, body: { name } });
      if (answer.status === 201) expect(answer.json.name).not.toMatch(/\p{Cc}|[\u202a-\u202e\u2066-\u2069]/u);
      else expectRefusal(answer, REFUSED);
    }
  },
  'STRINGSUNICODE-07': async (lab) => {
    const { pat: as } = await lab.world.user();
    expect((await searches(lab, as, encodeURIComponent('🎈'.repeat(256)))).status).toBe(200);
    expectRefusal(await searches(lab, as, encodeURIComponent('🎈'.repeat(257))), REFUSED);
  },
  'INTEGERSLIMITS-01': limits('0'),
  'INTEGERSLIMITS-03': limits('-1'),
  'INTEGERSLIMITS-04': limits('1.5', '1e1', '1.0'),
  'INTEGERSLIMITS-06': limits('%2025', '25%20', '%0925'),
  'INTEGERSLIMITS-08': limits('0x10', '0b1', '0o7'),
  'INTEGERSLIMITS-09': limits('025', '00'),
  'INTEGERSLIMITS-11': limits(''),
  'INTEGERSLIMITS-13': limits(encodeURIComponent('٢٥'), encodeURIComponent('２５')),
  'INTEGERSLIMITS-14': lists(400, 'limit=1&limit=2', 'limit=1&limit=1'),
  'INTEGERSLIMITS-16': async (lab) => {
    const { id, pat: as } = await lab.world.user();
    for (let n = 0; n < 2; n++) await lab.world.bubble({ type: 'custom_image', participant_ids: [id] });
    for (const [limit, rows] of [
      [1, 1],
      [100, 2],
    ] as const)
      expect((await lab.call(`/v1/bubbles?limit=${limit}`, { as })).json.data).toHaveLength(rows);
  },
  'INTEGERSLIMITS-18': lists(400, `${'a=1&'.repeat(1500)}limit=1`, `${'a=1&'.repeat(60)}limit=1`),
  'DATES-01': after(400, '2026-02-30T00:00:00Z'),
  'DATES-03': after(200, '2024-02-29T00:00:00Z'),
  'DATES-05': after(400, '2026-01-01T23:59:60Z'),
  'DATES-06': after(400, '2026-01-01T00:00:00'),
  'DATES-08': after(200, '2026-01-01T00:00:00%2B02:00'),
  'DATES-10': after(200, '2026-01-01T00:00:00-00:00'),
  'DATES-11': after(400, '2026-01-01T00:00:00%2B25:00', '2026-01-01T00:00:00+25:00'),
  'DATES-13': after(200, '0000-01-01T00:00:00Z'),
  'DATES-15': after(400, '1735689600', 'now', '2026-W01-1'),
  'DATES-16': async (lab) => {
    const { id, pat: as } = await lab.world.user();
    await lab.world.bubble({ type: 'custom_image', participant_ids: [id] });
    const { json } = await lab.call('/v1/bubbles?created_after=2090-01-01T00:00:00Z&created_before=2000-01-01T00:00:00Z', { as });
    expect(json).toEqual({ data: [], has_more: false, next_cursor: null });
  },
};
