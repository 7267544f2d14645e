import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { schemaFaultsIn } from '../fuzz/json-schema.ts';
import { type Call, send } from './support/client.ts';
import { openWorld } from './support/open-world.ts';
import type { World } from './support/world.ts';

const GONE = '00000000-0000-4000-8000-000000000000';

let world: World;
// The document is what is under test.
// biome-ignore lint/suspicious/noExplicitAny: as above
let document: any;
beforeAll(async () => {
  world = await openWorld();
  document = (await send(world.baseUrl, '/v1/openapi.json')).json;
});
afterAll(() => world.close());

/** What is wrong with the answer by the document's schema of it. */
const fault = async (template: string, parameters: Readonly<Record<string, string>>, call: Call): Promise<string[]> => {
  const path = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => parameters[name] ?? GONE);
  const { status, json } = await send(world.baseUrl, path, call);
  const operation = document.paths[template.split('?')[0] ?? ''][(call.method ?? 'GET').toLowerCase()];
  const described = operation.responses[status];
  const response = described.$ref === undefined ? described : document.components.responses[described.$ref.split('/').at(-1)];
  return schemaFaultsIn(document)(response.content['application/json'].schema, json);
};

describe('section 9, what is answered is what the document says, ids and times in their forms', () => {
  it('[API-01] [GEN-04] every read, made with real things, and its refusals', async () => {
    const person = await world.user();
    const team = await world.team({
      name: 'Pro',
      plan: 'pro',
      members: [{ user_id: person.id, role: 'admin' }],
      channels: [{ name: 'all' }],
    });
    const bubble = await world.bubble({
      type: 'meeting_recording',
      team_id: team.id,
      channel_id: team.channels['all'],
      participant_ids: [person.id],
      external_participants: [{ name: 'Olga', email: 'olga@partner.example' }],
    });
    await world.comment(bubble.id, { author_id: person.id });
    const [as, session] = [person.pat, person.session_token];
    const webhook = { url: 'https://hooks.example.com/in', events: ['bubble.ready'], team_id: team.id, space_id: team.channels['all'] };
    const created = (await send(world.baseUrl, '/v1/webhooks', { method: 'POST', as, body: webhook })).json;
    await send(world.baseUrl, `/v1/webhooks/${created.id}/test`, { method: 'POST', as });
    const calls: readonly (readonly [string, string, Call])[] = [
      ['/v1/me', '', { as }],
      ['/v1/me', '', {}],
      ['/v1/teams', '', { as }],
      ['/v1/api-keys', '', { as: session }],
      ['/v1/api-keys', '', { as: session, method: 'POST', body: { name: 'mine' } }],
      ['/v1/bubbles', '', { as }],
      ['/v1/bubbles?limit=0', '', { as }],
      ['/v1/bubbles/search?q=meeting', '', { as }],
      ['/v1/bubbles/{id}', bubble.id, { as }],
      ['/v1/bubbles/{id}', GONE, { as }],
      ['/v1/bubbles/{id}/transcript', bubble.id, { as }],
      ['/v1/bubbles/{id}/transcript?format=text', bubble.id, { as }],
      ['/v1/bubbles/{id}/comments', bubble.id, { as }],
      ['/v1/webhooks', '', { as }],
      ['/v1/webhooks', '', { as, method: 'POST', body: webhook }],
      ['/v1/webhooks/{id}', created.id, { as }],
      ['/v1/webhooks/{id}', created.id, { as, method: 'PATCH', body: {} }],
      ['/v1/webhooks/{id}/test', created.id, { as, method: 'POST' }],
      ['/v1/webhooks/{id}/deliveries', created.id, { as }],
    ];
    const faults: string[] = [];
    for (const [template, id, call] of calls) {
      const found = await fault(template, { id }, call);
      for (const one of found) faults.push(`${template}: ${one}`);
    }
    expect(faults).toEqual([]);
  });
});
