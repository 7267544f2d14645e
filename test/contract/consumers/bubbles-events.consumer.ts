import { bubblesQuery } from '@bubbles/bubbles-query/service.ts';
import type { EventDefinition, EventHandler } from '@bubbles/bus/bus.ts';
import { RecordingCapturedV1 } from '@bubbles/contracts/events/meeting-events.ts';
import {
  BubbleChangedV1,
  BubbleCreatedV1,
  BubbleRemovedV1,
  CommentChangedV1,
  CommentPostedV1,
  MediaProcessedV1,
  NotesGeneratedV1,
  ThreadChangedV1,
  TranscriptCompletedV1,
} from '@bubbles/contracts/events/recording-events.ts';
import { AccountChangedV1 } from '@bubbles/contracts/events/service-events.ts';
import { fakeClock } from '@bubbles/testing/fake-clock.ts';
import { aCaller } from '@bubbles/testing/http.ts';
import { startTestService, type TestService } from '@bubbles/testing/service-under-test.ts';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { AT, BUBBLE_ID, TEAM_ID, USER_ID } from '../examples.ts';
import { bubble, captured, comment, details, media, notes, thread, transcript } from '../facts.ts';
import { expectMessage, publish } from '../messages.ts';
import { pactBetween } from '../pacts.ts';

const account = { user_id: USER_ID, name: 'Ada L.', email: 'l@acme.test', revision: 1 };

type Fact = readonly [EventDefinition, unknown];
const CREATED: Fact = [BubbleCreatedV1, details];

interface Heard {
  readonly event: Fact;
  readonly after: readonly Fact[];
  readonly path: string;
  readonly shows: object;
}

const one = `/v1/bubbles/${BUBBLE_ID}`;
const FROM_THE_PIPELINE: readonly Heard[] = [
  { event: CREATED, after: [], path: one, shows: { title: 'Weekly review', team_id: TEAM_ID } },
  { event: [BubbleChangedV1, { ...details, revision: 2, title: 'Renamed' }], after: [CREATED], path: one, shows: { title: 'Renamed' } },
  { event: [BubbleRemovedV1, { ...bubble, revision: 2 }], after: [CREATED], path: one, shows: { error: { type: 'not_found' } } },
  { event: [MediaProcessedV1, media], after: [CREATED], path: one, shows: { media: { duration_seconds: 45, is_processed: true } } },
  {
    event: [TranscriptCompletedV1, transcript],
    after: [CREATED],
    path: `${one}/transcript`,
    shows: { segments: [{ speaker: { id: USER_ID }, text: 'Shall we begin?' }] },
  },
  { event: [NotesGeneratedV1, notes], after: [CREATED], path: one, shows: { summary: 'The numbers.', action_items: 'Send them.' } },
  {
    event: [ThreadChangedV1, thread],
    after: [CREATED, [CommentPostedV1, comment]],
    path: `${one}/comments`,
    shows: { data: [{ is_pinned: true }] },
  },
  {
    event: [CommentPostedV1, comment],
    after: [CREATED, [ThreadChangedV1, thread]],
    path: `${one}/comments`,
    shows: { data: [{ body: 'Well said.' }] },
  },
  {
    event: [CommentChangedV1, { ...comment, revision: 2, body: 'Better said.' }],
    after: [CREATED, [ThreadChangedV1, thread], [CommentPostedV1, comment]],
    path: `${one}/comments`,
    shows: { data: [{ body: 'Better said.' }] },
  },
];

describe('bubbles-query hears', () => {
  let eventHandlers: readonly EventHandler[];
  let bubbles: TestService;

  beforeEach(async () => {
    bubbles = await startTestService(bubblesQuery, { clock: fakeClock(new Date(AT)) });
    bubbles.actAs(aCaller({ userId: USER_ID }));
    ({ eventHandlers } = bubbles.service);
  });
  afterEach(() => bubbles.stop());

  const heard = async (pact: ReturnType<typeof pactBetween>, { event: [definition, data], after, path, shows }: Heard) => {
    for (const [earlier, fact] of after) await publish(eventHandlers, earlier, fact);
    await expectMessage(pact, { definition, data, eventHandlers });
    const response = await bubbles.fetch(path);
    expect(await response.json()).toMatchObject(shows);
  };

  it.each(FROM_THE_PIPELINE.map((told) => ({ ...told, type: told.event[0].type })))('[BUB-01] $type and shows it', async (told) => {
    await heard(pactBetween('bubbles-query', 'recording-pipeline'), told);
  });

  it.each([
    [one, { title: 'Weekly review', team_id: TEAM_ID, media: { duration_seconds: 45, is_processed: true } }],
    [`${one}/transcript`, { segments: [{ text: 'Shall we begin?' }] }],
  ])('[MEET-09] meetings.recording.captured.v1 and shows it at %s', async (path, shows) => {
    const event: Fact = [RecordingCapturedV1, captured];
    await heard(pactBetween('bubbles-query', 'meetings-bot-gateway'), { event, after: [], path, shows });
  });

  it('[LIST-10] identity.account.changed.v1 and shows the name of now', async () => {
    const shows = { participants: [{ name: 'Ada L.', email: 'l@acme.test' }] };
    await heard(pactBetween('bubbles-query', 'identity-and-oauth'), {
      event: [AccountChangedV1, account],
      after: [CREATED],
      path: one,
      shows,
    });
  });
});
