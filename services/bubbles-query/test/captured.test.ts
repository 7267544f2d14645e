import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { startBubbles, type TestBubbles } from './bubbles-query.ts';
import { BUBBLE, capturedMeeting, changed, noted, processed, removed } from './builders.ts';

let bubbles: TestBubbles;
beforeEach(async () => {
  bubbles = await startBubbles();
});
afterEach(() => bubbles.stop());

const shown = async () => (await bubbles.read('ada', `/v1/bubbles/${BUBBLE}`)).body;

describe('a captured meeting', () => {
  it('[MEET-09] is a meeting recording with its transcript, and ready once it has notes', async () => {
    await bubbles.tell(capturedMeeting());
    expect(await shown()).toMatchObject({
      type: 'meeting_recording',
      title: 'Planning',
      team_id: 'acme',
      author: { id: 'ada' },
      has_transcript: true,
      media: { is_processed: true, duration_seconds: 61, video_url: null },
    });
    expect(await bubbles.ready()).toEqual([]);
    await bubbles.tell(noted());
    expect(await bubbles.ready()).toHaveLength(1);
  });

  it('[MEET-09] told again changes nothing, also after what the pipeline said of it', async () => {
    await bubbles.tell(
      changed({ revision: 1, title: 'Renamed' }),
      processed({ duration_seconds: 45 }),
      capturedMeeting(),
      capturedMeeting(),
    );
    expect(await shown()).toMatchObject({ title: 'Renamed', media: { duration_seconds: 45 }, has_transcript: true });
  });

  it('[MEET-09] has no transcript when there is none', async () => {
    await bubbles.tell(capturedMeeting({ segments: null }));
    expect(await shown()).toMatchObject({ has_transcript: false });
  });

  it('stays removed', async () => {
    await bubbles.tell(removed(), capturedMeeting());
    expect(await shown()).toMatchObject({ error: { type: 'not_found' } });
  });
});
