import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { send } from './support/client.ts';
import { openWorld } from './support/open-world.ts';
import type { Person, World } from './support/world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

const read = (id: string, as: Person) => send(world.baseUrl, `/v1/bubbles/${id}`, { as: as.pat });
const recordingOf = (person: Person, fields: Readonly<Record<string, unknown>>) =>
  world.bubble({ type: 'screen_recording', participant_ids: [person.id], ...fields });

describe('section 2, what a bubble may hold', () => {
  it('[BUB-02] [LIST-03] a link that is not https is null', async () => {
    const person = await world.user();
    const bad = {
      video_url: 'http://media.example.com/v.mp4',
      thumbnail_url: 'javascript:alert(1)',
      screenshot_url: 'data:image/png;base64,AA',
    };
    const made = await recordingOf(person, { ...bad, embed_code: '<iframe src="javascript:alert(1)"></iframe>' });
    const { json } = await read(made.id, person);
    expect(json).toMatchObject({ media: { video_url: null, thumbnail_url: null, screenshot_url: null }, embed_code: null });
    const list = await send(world.baseUrl, '/v1/bubbles', { as: person.pat });
    expect(list.json.data[0].thumbnail_url).toBeNull();
  });

  it('[BUB-06] [BUB-07] somebody outside is one person for each address, and domains have one form', async () => {
    const person = await world.user();
    const made = await recordingOf(person, {
      external_participants: [
        { name: null, email: 'Olga@Partner.Example' },
        { name: 'Olga', email: 'olga@partner.example.' },
        { name: 'Jan', email: 'jan@bücher.example' },
      ],
    });
    const { json } = await read(made.id, person);
    expect(json.participants.slice(1).map(({ name }: { name: string }) => name)).toEqual(['Olga', 'Jan']);
    expect(json.external_participant_email_domains).toEqual(['partner.example', 'xn--bcher-kva.example']);
  });
});
