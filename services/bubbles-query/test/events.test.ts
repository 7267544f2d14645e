import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { startBubbles, type TestBubbles } from './bubbles-query.ts';
import {
  account,
  anOutsider,
  aPerson,
  BUBBLE,
  changed,
  created,
  day,
  noted,
  processed,
  readyFacts,
  removed,
  type Told,
  transcribed,
} from './builders.ts';

let bubbles: TestBubbles;
beforeEach(async () => {
  bubbles = await startBubbles();
});
afterEach(() => bubbles.stop());

/** How many ready events there were after each of what was told. */
const counts = async (...told: readonly Told[]) => {
  const seen: number[] = [];
  for (const one of told) {
    await bubbles.tell(one);
    seen.push((await bubbles.ready()).length);
  }
  return seen;
};

describe('the ready event', () => {
  it('[EVT-01] fires with the last fact that was needed, never at creation, and once', async () => {
    expect(await counts(...readyFacts(), ...readyFacts(), noted({ revision: 2 }), changed())).toEqual([0, 0, 0, 1, 1, 1, 1, 1, 1, 1]);
  });

  it('[EVT-01] whatever the order: details may come last', async () => {
    expect(await counts(noted(), transcribed(), processed(), created())).toEqual([0, 0, 0, 1]);
  });

  it('[EVT-02] of a silent screen recording, at the processed signal', async () => {
    expect(await counts(created({ type: 'screen_recording' }), processed({ has_audio: false }))).toEqual([0, 1]);
  });

  it('[EVT-02] not while the media are in the works', async () => {
    expect(await counts(created({ type: 'custom_image' }), processed({ is_processed: false }), processed({ revision: 2 }))).toEqual([
      0, 0, 1,
    ]);
  });

  it.each([{ draft: true }, { template: true }, { archived: true }, { expires_at: day(1) }])(
    '[EVT-01] %j: when it becomes readable',
    async (fields) => {
      expect(await counts(...readyFacts(fields), changed(), changed({ revision: 3, ...fields }), changed({ revision: 4 }))).toEqual([
        0, 0, 0, 0, 1, 1, 1,
      ]);
    },
  );

  it('[EVT-01] of a removed bubble never', async () => {
    const [first, ...later] = readyFacts();
    expect(await counts(...(first ? [first] : []), removed(), ...later, changed())).toEqual([0, 0, 0, 0, 0, 0]);
  });

  it('[EVT-01] of zero-media notes never', async () => {
    expect(await counts(...readyFacts({ has_media: false }))).toEqual([0, 0, 0, 0]);
  });

  it('[EVT-01] [EVT-03] carries the bubble as a participant reads it, and all that fan-out needs', async () => {
    const author = aPerson({ user_id: 'boss', name: 'Boss', email: 'boss@acme.test' });
    const participants = [aPerson(), anOutsider(), aPerson({ user_id: 'zed', name: 'Zed', email: null })];
    await bubbles.tell(account(), ...readyFacts({ author, participants }));
    const [event, ...others] = await bubbles.ready();
    expect(others).toEqual([]);
    expect(event).toEqual({
      id: `ready-${BUBBLE}`,
      data: {
        bubble: (await bubbles.read('ada', `/v1/bubbles/${BUBBLE}`)).body,
        participant_user_ids: ['ada', 'zed'],
        author_id: 'boss',
        team_id: 'acme',
        channel_id: 'general',
        ready_at: bubbles.clock.now().toISOString(),
      },
    });
    expect(event?.data.bubble.participants[0]).toEqual({ id: 'ada', name: 'Ada L.', email: 'l@acme.test' });
  });

  it('[EVT-01] waits in the outbox while the broker is away', async () => {
    bubbles.bus.admit(() => false);
    expect(await counts(...readyFacts())).toEqual([0, 0, 0, 0]);
    bubbles.bus.admit(() => true);
    expect(await bubbles.ready()).toHaveLength(1);
  });
});

describe('POST /internal/v1/readable', () => {
  const ask = async (...pairs: readonly (readonly [string, string])[]) => {
    const body = { pairs: pairs.map(([user_id, bubble_id]) => ({ user_id, bubble_id })) };
    return await bubbles.ask('webhooks-dispatcher', '/internal/v1/readable', body);
  };
  const unknown = '00000000-0000-4000-8000-00000000dead';
  const BELONGING = { team_id: 'acme', channel_id: 'general', author_id: 'ada' };

  it('[EVT-03] says in the order asked who takes part and what may be read', async () => {
    await bubbles.tell(created({ is_public: true }));
    const { body } = await ask(['eve', BUBBLE], ['ada', unknown], ['ada', BUBBLE]);
    expect(body.answers).toEqual([
      { bubble_id: BUBBLE, user_id: 'eve', participates: false, bubble: BELONGING },
      { bubble_id: unknown, user_id: 'ada', participates: false, bubble: null },
      { bubble_id: BUBBLE, user_id: 'ada', participates: true, bubble: BELONGING },
    ]);
  });

  it.each([changed({ archived: true }), changed({ draft: true }), changed({ template: true }), changed({ expires_at: day(1) }), removed()])(
    '[EVT-03] [BUB-03] hidden meanwhile, nobody takes part in it',
    async (told) => {
      await bubbles.tell(created(), told);
      expect((await ask(['ada', BUBBLE])).body.answers).toEqual([{ bubble_id: BUBBLE, user_id: 'ada', participates: false, bubble: null }]);
    },
  );

  it('[EVT-03] says what the bubble belongs to now', async () => {
    await bubbles.tell(created(), changed({ team_id: null, channel_id: null, author: anOutsider() }));
    const { body } = await ask(['ada', BUBBLE]);
    expect(body.answers).toMatchObject([{ bubble: { team_id: null, channel_id: null, author_id: null } }]);
  });

  it('is for the dispatcher alone', async () => {
    const body = { pairs: [{ user_id: 'ada', bubble_id: BUBBLE }] };
    expect((await bubbles.ask('gateway', '/internal/v1/readable', body)).status).toBe(401);
    expect((await bubbles.ask('webhooks-dispatcher', '/internal/v1/readable', { pairs: [] })).status).toBe(400);
  });
});
