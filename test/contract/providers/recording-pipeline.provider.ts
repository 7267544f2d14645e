import type { CloudEvent } from '@bubbles/bus/bus.ts';
import { CommentChangedV1 } from '@bubbles/contracts/events/recording-events.ts';
import { systemIds } from '@bubbles/kernel/ids.ts';
import { fakeClock } from '@bubbles/testing/fake-clock.ts';
import { SILENT_LOG } from '@bubbles/testing/http.ts';
import { memoryDatabase } from '@bubbles/testing/memory-database.ts';
import { recordingBus } from '@bubbles/testing/recording-bus.ts';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { NewBubble, NewComment } from '../../../deploy/sandbox/src/pipeline/fields.ts';
import { type Pipeline, startPipeline } from '../../../deploy/sandbox/src/pipeline/pipeline.ts';
import { CHANNEL_ID, TEAM_ID, USER_ID } from '../examples.ts';
import { verify } from '../verify.ts';

const directory = {
  account: (id: string) => Promise.resolve({ id, name: 'Ada', email: 'ada@acme.test', teamIds: [TEAM_ID] }),
  channelName: () => Promise.resolve('Reviews'),
  teamExists: () => Promise.resolve(true),
};

describe('recording-pipeline', () => {
  const bus = recordingBus();
  let pipeline: Pipeline;

  beforeAll(async () => {
    pipeline = await startPipeline({ clock: fakeClock(), ids: systemIds(), log: SILENT_LOG, bus, database: memoryDatabase() }, directory);
  });
  afterAll(() => pipeline.stop());

  const aRecording = (): Promise<string> =>
    pipeline.recordings.create(
      NewBubble.parse({
        type: 'meeting_recording',
        team_id: TEAM_ID,
        channel_id: CHANNEL_ID,
        participant_ids: [USER_ID],
        external_participants: [{ name: null, email: 'guest@example.com' }],
      }),
    );

  const published = async (type: string): Promise<CloudEvent> => {
    await pipeline.settle();
    const event = bus.published.findLast((one) => one.type === type);
    if (!event) throw new Error(`${type} was not published`);
    return event;
  };

  /** What the pipeline does, by the event that tells of it. */
  const WORK: Readonly<Record<string, () => Promise<unknown>>> = {
    'recording.bubble.created.v1': aRecording,
    'recording.bubble.changed.v1': async () => pipeline.recordings.patch(await aRecording(), { title: 'Renamed', stage: 'created' }),
    'recording.bubble.removed.v1': async () => pipeline.recordings.remove(await aRecording()),
    'recording.media.processed.v1': aRecording,
    'recording.transcript.completed.v1': aRecording,
    'recording.notes.generated.v1': aRecording,
    'recording.comment.posted.v1': async () => pipeline.comments.post(await aRecording(), NewComment.parse({ author_id: USER_ID })),
    'recording.thread.changed.v1': async () =>
      pipeline.comments.post(await aRecording(), NewComment.parse({ author_id: USER_ID, pinned: true })),
  };

  const messageProviders = Object.fromEntries(
    Object.entries(WORK).map(([type, work]) => [
      type,
      async () => {
        await work();
        return published(type);
      },
    ]),
  );

  /** The sandbox's pipeline never changes a comment; one that does states the same facts again. */
  const commentChanged = async () => {
    const posted = await messageProviders['recording.comment.posted.v1']?.();
    return { ...posted, type: CommentChangedV1.type };
  };

  it('keeps its pacts', async () => {
    const verified = verify({
      provider: 'recording-pipeline',
      stateHandlers: {},
      messageProviders: { ...messageProviders, [CommentChangedV1.type]: commentChanged },
    });
    await expect(verified).resolves.toBeUndefined();
  }, 60_000);
});
