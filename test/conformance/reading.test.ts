import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { send, walk } from './support/client.ts';
import { openWorld } from './support/open-world.ts';
import { shapeFaults } from './support/shape.ts';
import { freshAddress, type Person, type World } from './support/world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

type Fields = Readonly<Record<string, unknown>>;
const get = (path: string, person: Person) => send(world.baseUrl, path, { as: person.pat });
const recordingOf = (person: Person, fields: Fields = {}) =>
  world.bubble({ type: 'screen_recording', participant_ids: [person.id], ...fields });
const segment = (speaker: unknown, text: string, at: number) => ({ speaker, text, start_time_seconds: at, end_time_seconds: at + 0.5 });

describe('section 4, transcripts', () => {
  const transcript = (id: string, person: Person, query = '') => get(`/v1/bubbles/${id}/transcript${query}`, person);

  it('[TRN-02] the segments are there in order, with the current names of known users', async () => {
    const person = await world.user({ name: 'Ada' });
    const segments = [
      segment({ id: person.id, name: 'Old name' }, 'One.', 0),
      segment({ id: null, name: 'Visitor' }, 'Two.', 1.25),
      segment(null, 'Three.', 2),
      segment({ id: null, name: null }, '', 2),
    ];
    const { id } = await recordingOf(person, { segments });
    const { json } = await transcript(id, person);
    expect(shapeFaults('TranscriptJson', json)).toEqual([]);
    expect(json).toEqual({
      bubble_id: id,
      format: 'json',
      segments: [{ ...segments[0], speaker: { id: person.id, name: 'Ada' } }, ...segments.slice(1)],
    });
    expect((await transcript(id.toUpperCase(), person, '?format=json')).json).toEqual(json);
  });

  it('[TRN-03] the text has one block for each turn of a speaker', async () => {
    const person = await world.user({ name: 'Ada' });
    const ada = { id: person.id, name: 'x' };
    const segments = [
      segment(ada, 'One.', 0),
      segment(ada, 'Two.', 1),
      segment({ id: null, name: 'Vi' }, 'Three.', 2),
      segment({ id: null, name: 'Vi' }, 'Four.', 3),
      segment(null, 'Five.', 4),
      segment({ id: null, name: null }, 'Six.', 5),
      segment(ada, 'Seven.', 6),
    ];
    const { id } = await recordingOf(person, { segments });
    const { json } = await transcript(id, person, '?format=text');
    expect(shapeFaults('TranscriptText', json)).toEqual([]);
    expect(json).toMatchObject({ bubble_id: id, format: 'text' });
    expect(json.text).toMatch(
      /^Ada: One\. Two\.\n\nVi: Three\. Four\.\n\nUnknown speaker: Five\.( |\n\nUnknown speaker: )Six\.\n\nAda: Seven\.$/,
    );
  });

  it.each(['xml', 'JSON', '', 'json&format=json'])('[TRN-01] format=%s is refused', async (format) => {
    const person = await world.user();
    const { id } = await recordingOf(person);
    const answer = await transcript(id, person, `?format=${format}`);
    expect([answer.status, answer.json.error.type]).toEqual([400, 'invalid_request']);
  });

  it('[TRN-04] until there is one it is not found, in the very words of an absent bubble', async () => {
    const person = await world.user();
    const { id } = await recordingOf(person, { stage: 'processed' });
    const [early, absent] = [await transcript(id, person), await transcript(crypto.randomUUID(), person)];
    expect([early.status, early.text]).toEqual([404, absent.text]);
    await world.moveBubble(id, { stage: 'transcribed', segments: [] });
    expect((await transcript(id, person)).json.segments).toEqual([]);
    expect((await transcript(id, person, '?format=text')).json.text).toBe('');
    expect((await get(`/v1/bubbles/${id}`, person)).json.has_transcript).toBe(true);
  });
});

describe('a transcript as a file', () => {
  const exported = (id: string, person: Person, format = 'vtt') => get(`/v1/bubbles/${id}/export?format=${format}`, person);

  it.each([
    ['vtt', 'text/vtt', 'Über-uns.vtt', 'WEBVTT\n\n00:00:01.000 --> 00:00:01.500\n<v Ada>1 &lt; 2\n'],
    ['srt', 'application/x-subrip', 'Über-uns.srt', '1\n00:00:01,000 --> 00:00:01,500\nAda: 1 < 2\n'],
    ['markdown', 'text/markdown', 'Über-uns.md', '# Über-uns\n\n**Ada** (00:00:01)\n\n1 \\< 2\n'],
  ])('[API-05] %s has its media type and a name by the title', async (format, type, name, text) => {
    const person = await world.user({ name: 'Ada' });
    const { id } = await recordingOf(person, { title: 'Über-uns', segments: [segment({ id: person.id, name: null }, '1 < 2', 1)] });
    const { status, headers, text: sent } = await exported(id, person, format);
    expect([status, headers.get('content-type'), sent]).toEqual([200, `${type}; charset=utf-8`, text]);
    expect(headers.get('content-disposition')).toBe(
      `attachment; filename="${name.replace('Ü', '?')}"; filename*=UTF-8''${encodeURIComponent(name)}`,
    );
    expect(headers.get('access-control-expose-headers')).toContain('Content-Disposition');
  });

  it.each(['json', '', 'vtt&format=vtt'])('[API-05] format=%s is refused', async (format) => {
    const person = await world.user();
    const { id } = await recordingOf(person);
    const { status, json } = await exported(id, person, format);
    expect([status, json.error.type]).toEqual([400, 'invalid_request']);
  });

  it('[API-05] without a transcript, or for others, it is not found in the very words of an absent bubble', async () => {
    const [person, other] = [await world.user(), await world.user()];
    const { id } = await recordingOf(person, { stage: 'processed' });
    const [early, absent] = [await exported(id, person), await exported(crypto.randomUUID(), person)];
    expect([early.status, early.text]).toEqual([404, absent.text]);
    await world.moveBubble(id, { stage: 'transcribed', segments: [] });
    const foreign = await exported(id, other);
    expect([foreign.status, foreign.text]).toEqual([404, absent.text]);
    expect((await exported(id, person)).text).toBe('WEBVTT\n');
  });
});

describe('section 4, comments', () => {
  const commentsOf = async (id: string, person: Person, query = '') => (await get(`/v1/bubbles/${id}/comments${query}`, person)).json;

  it('[COM-02] [GEN-12] every field of text, video and image comments', async () => {
    const person = await world.user({ name: 'Ada' });
    const { id, short_id: short } = await recordingOf(person);
    const video_url = 'https://media.example.com/c.mp4';
    const image_url = 'https://media.example.com/c.png';
    const text = await world.comment(id, {
      author_id: person.id,
      body: 'Hi',
      timestamp_seconds: 1.5,
      pinned: true,
      created_at: '2026-01-01T00:00:00.000Z',
    });
    const video = await world.comment(id, { author_id: person.id, kind: 'video', body: 'x', video_url, thread_id: text.thread_id });
    const image = await world.comment(id, { author_id: person.id, kind: 'image', image_url });
    const { data } = await commentsOf(id, person);
    for (const row of data) expect(shapeFaults('Comment', row)).toEqual([]);
    const author = { id: person.id, name: 'Ada' };
    const url = (comment: string) => expect.stringMatching(new RegExp(`/b/${short}\\?comment=${comment}$`));
    expect(data).toEqual([
      {
        ...{ id: text.id, thread_id: text.thread_id, bubble_id: id, kind: 'text', body: 'Hi', video_url: null, image_url: null, author },
        ...{ is_pinned: true, timestamp_seconds: 1.5, created_at: '2026-01-01T00:00:00.000Z', url: url(text.id) },
      },
      expect.objectContaining({
        id: video.id,
        kind: 'video',
        body: null,
        video_url,
        image_url: null,
        is_pinned: true,
        timestamp_seconds: null,
      }),
      expect.objectContaining({
        id: image.id,
        kind: 'image',
        body: null,
        video_url: null,
        image_url,
        is_pinned: false,
        url: url(image.id),
      }),
    ]);
  });

  it('[COM-01] [LIST-08] pages run from the oldest on; a cursor belongs to its bubble', async () => {
    const person = await world.user();
    const [{ id }, other] = [await recordingOf(person), await recordingOf(person)];
    const times = [3, 1, 2, 2, 5].map((n) => `2026-01-0${n}T00:00:00.000Z`);
    const made: { id: string; created_at: string }[] = [];
    for (const created_at of times)
      made.push({ created_at, id: (await world.comment(id, { author_id: person.id, body: 'x', created_at })).id });
    const expected = made.toSorted((a, b) => (a.created_at + a.id < b.created_at + b.id ? -1 : 1)).map((comment) => comment.id);
    expect((await walk(world.baseUrl, `/v1/bubbles/${id}/comments?limit=2`, person.pat)).map((row) => row.id)).toEqual(expected);
    const page = await commentsOf(id, person, '?limit=2');
    expect(shapeFaults('CommentList', page)).toEqual([]);
    expect(page.has_more).toBe(true);
    expect((await get(`/v1/bubbles/${other.id}/comments?cursor=${page.next_cursor}`, person)).status).toBe(400);
    expect((await get(`/v1/bubbles?cursor=${page.next_cursor}`, person)).status).toBe(400);
    for (const limit of ['0', '101', '1.5', 'x', ''])
      expect((await get(`/v1/bubbles/${id}/comments?limit=${limit}`, person)).status).toBe(400);
  });

  it('[COM-03] drafts and archived ones are neither shown nor counted', async () => {
    const person = await world.user();
    const { id } = await recordingOf(person);
    const shown = await world.comment(id, { author_id: person.id, body: 'shown' });
    for (const hidden of [{ draft: true }, { archived: true }, { thread_draft: true }, { thread_archived: true }])
      await world.comment(id, { author_id: person.id, body: 'hidden', ...hidden });
    const counts = async () => {
      const [row] = (await get('/v1/bubbles', person)).json.data;
      return [(await get(`/v1/bubbles/${id}`, person)).json.comment_count, row.comment_count, (await commentsOf(id, person)).data.length];
    };
    expect(await counts()).toEqual([1, 1, 1]);
    await world.comment(id, { author_id: person.id, body: 'late', thread_id: shown.thread_id, thread_archived: true });
    expect(await counts()).toEqual([0, 0, 0]);
    await world.comment(id, { author_id: person.id, body: 'later', thread_id: shown.thread_id, thread_archived: false });
    expect(await counts()).toEqual([3, 3, 3]);
  });
});

describe('section 2, names', () => {
  it('[LIST-10] [SRCH-02] a person who is renamed is renamed on every read', async () => {
    const [before, after] = [freshAddress('k', 'old.example'), freshAddress('l', 'new.example')];
    const person = await world.user({ name: 'Kasimir', email: before });
    const { id } = await recordingOf(person, {
      title: 'A thing',
      summary: null,
      segments: [segment({ id: person.id, name: 'Kasimir' }, 'Hi.', 0)],
    });
    await world.comment(id, { author_id: person.id, body: 'x' });
    await world.changeUser(person.id, { name: 'Leopoldine', email: after });
    const bubble = (await get(`/v1/bubbles/${id}`, person)).json;
    const renamed = { id: person.id, name: 'Leopoldine', email: after };
    expect([bubble.author, bubble.participants]).toEqual([renamed, [renamed]]);
    expect((await get(`/v1/bubbles/${id}/transcript`, person)).json.segments[0].speaker.name).toBe('Leopoldine');
    expect((await get(`/v1/bubbles/${id}/transcript?format=text`, person)).json.text).toBe('Leopoldine: Hi.');
    expect((await get(`/v1/bubbles/${id}/comments`, person)).json.data[0].author.name).toBe('Leopoldine');
    expect((await get('/v1/me', person)).json.name).toBe('Leopoldine');
    const found = async (q: string) => (await get(`/v1/bubbles/search?q=${q}`, person)).json.data.map((row: { id: string }) => row.id);
    expect([await found('leopoldine'), await found('kasimir')]).toEqual([[id], []]);
    await world.changeUser(person.id, { name: null, email: null });
    expect((await get(`/v1/bubbles/${id}`, person)).json.author).toEqual({ id: person.id, name: null, email: null });
  });
});
