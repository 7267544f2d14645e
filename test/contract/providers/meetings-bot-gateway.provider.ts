import { MeetingJoinCreated } from '@bubbles/contracts/api/meeting-join.ts';
import { meetingsBotGateway } from '@bubbles/meetings-bot-gateway/service.ts';
import { aCaller, asService } from '@bubbles/testing/http.ts';
import { recordingBus } from '@bubbles/testing/recording-bus.ts';
import { startTestService, type TestService } from '@bubbles/testing/service-under-test.ts';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { fakeIdentity, MEETING } from '../../../services/meetings-bot-gateway/test/gateway.ts';
import { verify } from '../verify.ts';

const CAPTURED = 'meetings.recording.captured.v1';

describe('meetings-bot-gateway', () => {
  const bus = recordingBus();
  let meetings: TestService;
  beforeAll(async () => {
    meetings = await startTestService(meetingsBotGateway, { bus, peers: { 'identity-and-oauth': fakeIdentity().client } });
    meetings.actAs(aCaller({ userId: 'ada' }));
  });
  afterAll(() => meetings.stop());

  const post = async (path: string, body: object) => {
    const headers = { 'content-type': 'application/json', ...asService('operator') };
    return (await meetings.fetch(path, { method: 'POST', headers, body: JSON.stringify(body) })).json();
  };
  const aJoin = async () => {
    const { id } = MeetingJoinCreated.parse(await post('/v1/meetings/join', MEETING));
    return { join_id: id, user_id: 'ada' };
  };
  const aCapturedRecording = async () => {
    const { id } = MeetingJoinCreated.parse(await post('/v1/meetings/join', MEETING));
    await meetings.service.settle();
    await post(`/internal/v1/admin/notetakers/${id}`, {
      status: 'done',
      title: 'Weekly review',
      participants: [{ name: 'Ben', email: 'ben@acme.example' }],
      segments: [{ speaker: { id: null, name: 'Ben' }, text: 'Shall we begin?', start_time_seconds: 0, end_time_seconds: 15 }],
      duration_seconds: 45,
    });
    await meetings.service.settle();
    return bus.published.find(({ type }) => type === CAPTURED);
  };

  it('keeps its pacts', async () => {
    const verified = verify({
      provider: 'meetings-bot-gateway',
      providerBaseUrl: meetings.url,
      stateHandlers: { 'what operators act on': aJoin },
      messageProviders: { [CAPTURED]: aCapturedRecording },
    });
    await expect(verified).resolves.toBeUndefined();
  }, 60_000);
});
