import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { BubbleDoc } from '../src/adapters/store/bubbles.ts';
import type { CommentDoc } from '../src/adapters/store/comments.ts';
import { shortIdOf } from '../src/domain/short-id.ts';
import { identityKnowing, startBubbles, type TestBubbles } from './bubbles-query.ts';
import { aPerson, BUBBLE, created, day, noted, posted, processed, readyFacts, removed, threaded, transcribed } from './builders.ts';

const PATH = `/v1/bubbles/${BUBBLE}`;
const SHORT = shortIdOf(BUBBLE);

let bubbles: TestBubbles;
beforeEach(async () => {
  bubbles = await startBubbles({ identity: identityKnowing(() => []) });
});
afterEach(() => bubbles.stop());

describe('GET /v1/bubbles/{id}', () => {
  it('[BUB-01] [GEN-04] answers the whole bubble', async () => {
    await bubbles.tell(created(), processed(), transcribed(), noted());
    const { status, body } = await bubbles.read('ada', PATH);
    expect(status).toBe(200);
    expect(body).toEqual({
      id: BUBBLE,
      type: 'meeting_recording',
      title: 'Weekly',
      url: `https://app.test/b/${SHORT}`,
      created_at: day(1),
      team_id: 'acme',
      channel_id: 'general',
      channel_name: 'General',
      author: { id: 'ada', name: 'Ada', email: 'ada@acme.test' },
      participants: [{ id: 'ada', name: 'Ada', email: 'ada@acme.test' }],
      media: {
        video_url: 'https://media.test/v.mp4',
        thumbnail_url: 'https://media.test/t.jpg',
        screenshot_url: null,
        duration_seconds: 61.5,
        is_processed: true,
      },
      summary: 'All is well.',
      action_items: 'Go on.',
      has_transcript: true,
      comment_count: 0,
      is_public: false,
      embed_code: null,
      expires_at: null,
      archived: false,
      creator_id: 'bot',
      response_required: false,
      has_external_participants: false,
      external_participant_email_domains: [],
      meeting: { platform: 'google_meet', start_time: day(1) },
    });
  });

  it('[BUB-01] [GEN-04] shows what is not known as null', async () => {
    await bubbles.tell(
      created({
        title: null,
        team_id: null,
        channel_id: null,
        channel_name: null,
        created_at: null,
        author: null,
        creator_id: null,
        meeting: null,
      }),
    );
    expect((await bubbles.read('ada', PATH)).body).toMatchObject({
      title: null,
      created_at: null,
      team_id: null,
      author: null,
      creator_id: null,
      media: { video_url: null, thumbnail_url: null, screenshot_url: null, duration_seconds: null, is_processed: false },
      summary: null,
      action_items: null,
      has_transcript: false,
      meeting: { platform: null, start_time: null },
    });
  });

  it.each(['screen_recording', 'custom_image'] as const)('[BUB-02] a %s has no meeting, and may have no video', async (type) => {
    await bubbles.tell(created({ type }), processed({ video_url: null }));
    const { body } = await bubbles.read('ada', PATH);
    expect([body.meeting, body.media.video_url, body.media.is_processed]).toEqual([null, null, true]);
  });

  it('[BUB-02] media of zero-media notes are unknown, not unprocessed', async () => {
    await bubbles.tell(created({ has_media: false }));
    expect((await bubbles.read('ada', PATH)).body.media.is_processed).toBeNull();
  });

  it('[BUB-01] takes the uuid in either case and the short id', async () => {
    await bubbles.tell(created());
    for (const id of [BUBBLE, BUBBLE.toUpperCase(), SHORT])
      for (const below of ['', '/comments']) {
        const { status } = await bubbles.read('ada', `/v1/bubbles/${id}${below}`);
        expect([id, below, status]).toEqual([id, below, 200]);
      }
  });

  it.each([`{${BUBBLE}}`, `urn:uuid:${BUBBLE}`, BUBBLE.replaceAll('-', ''), `${SHORT}0`, SHORT.slice(1), 'z'.repeat(22), 'search-me'])(
    '[BUB-01] [BUB-03] %s names no bubble',
    async (id) => {
      await bubbles.tell(created());
      expect((await bubbles.read('ada', `/v1/bubbles/${encodeURI(id)}`)).status).toBe(404);
    },
  );
});

describe('who may read', () => {
  const hidden = {
    nonexistent: [],
    'known by its media only': [processed(), transcribed()],
    'of others': [created({ participants: [aPerson({ user_id: 'bob' })] })],
    'of the author, who does not take part': [created({ author: aPerson(), participants: [] })],
    archived: [created({ archived: true, is_public: true })],
    draft: [created({ draft: true })],
    template: [created({ template: true })],
    expired: [created({ expires_at: day(1) })],
    removed: [created(), transcribed(), removed()],
  };

  it.each(Object.entries(hidden))('[BUB-03] a bubble that is %s: the same 404 on every read', async (_, facts) => {
    await bubbles.tell(...facts);
    const shown = ({ status, text, headers }: Awaited<ReturnType<TestBubbles['read']>>) => {
      const kept = [...headers].filter(([name]) => !['x-request-id', 'date'].includes(name));
      return { status, text, kept };
    };
    const nowhere = shown(await bubbles.read('ada', '/v1/bubbles/00000000-0000-4000-8000-00000000dead'));
    expect(nowhere).toMatchObject({ status: 404, text: '{"error":{"type":"not_found","message":"Not found."}}' });
    for (const below of ['', '/transcript', '/comments']) expect(shown(await bubbles.read('ada', PATH + below))).toEqual(nowhere);
  });

  it('[BUB-08] an expiring bubble is hidden from that instant, without any write', async () => {
    await bubbles.tell(created({ expires_at: '2026-03-01T12:00:05.000Z' }));
    await bubbles.clock.advance(4999);
    expect((await bubbles.read('ada', PATH)).status).toBe(200);
    await bubbles.clock.advance(1);
    expect((await bubbles.read('ada', PATH)).status).toBe(404);
    expect((await bubbles.read('ada', '/v1/bubbles')).body.data).toEqual([]);
  });

  it('[BUB-04] one who left the team, or never was in it, still takes part', async () => {
    await bubbles.tell(created());
    expect((await bubbles.read('ada', PATH)).status).toBe(200);
  });

  it('[BUB-04] [LIST-01] a public bubble is for everybody, but not in their list', async () => {
    await bubbles.tell(created({ is_public: true }));
    expect((await bubbles.read('eve', PATH)).status).toBe(200);
    expect((await bubbles.read('eve', '/v1/bubbles')).body.data).toEqual([]);
  });

  it('[LIST-01] a member of the team who does not take part reads nothing', async () => {
    await bubbles.tell(created());
    expect((await bubbles.read('bob', PATH)).status).toBe(404);
  });

  it('[AUTH-06] a token without bubbles:read is refused, also for what is not there', async () => {
    const narrow = { kind: 'oauth', scopes: ['meetings:join'] } as const;
    for (const path of ['/v1/bubbles', PATH, `${PATH}/transcript`, `${PATH}/comments`])
      expect((await bubbles.read('ada', path, narrow)).status).toBe(403);
    expect((await bubbles.read('ada', '/v1/bubbles', { kind: 'oauth', scopes: ['bubbles:read'] })).status).toBe(200);
  });
});

describe('links', () => {
  const BAD = 'javascript:alert(1)';
  const links = async () => {
    const [bubble, row, comment] = [
      (await bubbles.read('ada', PATH)).body,
      (await bubbles.read('ada', '/v1/bubbles')).body.data[0],
      (await bubbles.read('ada', `${PATH}/comments`)).body.data[0],
    ];
    const { video_url, thumbnail_url, screenshot_url } = bubble.media;
    return [video_url, thumbnail_url, screenshot_url, bubble.embed_code, row.thumbnail_url, comment.video_url, comment.image_url];
  };
  const media = { video_url: BAD, thumbnail_url: 'http://media.test/t.jpg', screenshot_url: 'data:image/png,' };

  it('[BUB-02] that are not https are null in every body, in the ready event too', async () => {
    await bubbles.tell(
      ...readyFacts({ embed_code: `<a href="${BAD}">x</a>` }),
      processed({ revision: 2, ...media }),
      threaded(),
      posted({ kind: 'video', video_url: BAD, image_url: BAD }),
    );
    expect(await links()).toEqual(Array(7).fill(null));
    const [ready] = await bubbles.ready();
    expect(ready?.data.bubble.embed_code).toBeNull();
  });

  it('[BUB-02] that an earlier release stored are null as well', async () => {
    await bubbles.tell(...readyFacts(), threaded(), posted({ kind: 'video' }));
    const stored = { videoUrl: BAD, thumbnailUrl: BAD, screenshotUrl: BAD };
    const docs = bubbles.database.collection<BubbleDoc>('bubbles');
    await docs.updateOne(
      { _id: BUBBLE },
      {
        $set: {
          ...Object.fromEntries(Object.entries(stored).map(([name, link]) => [`media.${name}`, link])),
          'row.thumbnailUrl': BAD,
          'details.embedCode': `<a href='${BAD}'>`,
        },
      },
    );
    await bubbles.database.collection<CommentDoc>('comments').updateOne({ _id: 'comment-1' }, { $set: { videoUrl: BAD, imageUrl: BAD } });
    expect(await links()).toEqual(Array(7).fill(null));
  });
});
