import { AccessRequest } from '@bubbles/contracts/internal/identity.ts';
import type { InternalClient } from '@bubbles/http/client/internal-client.ts';
import { aCaller, asService } from '@bubbles/testing/http.ts';
import { memoryLog } from '@bubbles/testing/memory-log.ts';
import { ABSENT_PEER, startTestService, type TestService } from '@bubbles/testing/service-under-test.ts';
import { testData } from '@bubbles/testing/test-data.ts';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { meetingsBotGateway } from '../src/service.ts';

interface Case {
  readonly id: string;
  readonly input: unknown;
  readonly valid: boolean;
  readonly normalized: string | null;
}
// The file's shape is fixed beside it; a row that differs fails the count below.
const cases = JSON.parse(testData('meeting-links.json')) as readonly Case[];
const accepted = cases.filter(({ valid }) => valid);

/** Each link is of a user and a team of its own, so that no quota and no running join is in its way. */
const teamOf = (userId: string) => `team-of-${userId}`;
const identity: InternalClient = {
  ...ABSENT_PEER,
  post(_path, { body, schema }) {
    const { user_ids, team_ids } = AccessRequest.parse(body);
    const users = user_ids.map((id) => ({
      id,
      state: 'active',
      paid_features: true,
      memberships: [{ team_id: teamOf(id), role: 'member', hidden: false, visible_channel_ids: [] }],
    }));
    const teams = team_ids.map((id) => ({ id, known: true, plan: 'pro', archived: false, channel_ids: [] }));
    return Promise.resolve(schema.parse({ users, teams, by_email: [] }));
  },
};

const log = memoryLog();
let service: TestService;
beforeAll(async () => {
  service = await startTestService(meetingsBotGateway, { log, peers: { 'identity-and-oauth': identity } });
});
afterAll(() => service.stop());

const join = async (userId: string, meetingUrl: unknown) => {
  service.actAs(aCaller({ userId }));
  const body = JSON.stringify({ meeting_url: meetingUrl, team_id: teamOf(userId) });
  const response = await service.fetch('/v1/meetings/join', { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  return { status: response.status, cacheControl: response.headers.get('cache-control'), body: JSON.parse(await response.text()) };
};
const sentLinks = async (): Promise<readonly string[]> => {
  await service.service.settle();
  const response = await service.fetch('/internal/v1/admin/notetakers', { headers: asService('operator') });
  const { runs } = JSON.parse(await response.text());
  return runs.map(({ meeting_url }: { readonly meeting_url: string }) => meeting_url);
};

describe('handed links at the endpoint', () => {
  it('has all handed cases', () => expect([cases.length, accepted.length]).toEqual([163, 57]));

  it.each(cases.filter(({ valid }) => !valid))('[MEET-02] $id is refused: $input', async ({ id, input }) => {
    const { status, body } = await join(id, input);
    expect([status, body.error.type]).toEqual([400, 'invalid_request']);
    expect(body.error.message).toMatch(/^meeting_url: /);
  });

  it('[MEET-02] no refused link sends a notetaker', async () => expect(await sentLinks()).toEqual([]));

  it.each(accepted)('[MEET-01] $id is a meeting: $input', async ({ id, input, normalized }) => {
    const answer = await join(id, input);
    expect(answer).toMatchObject({ status: 201, cacheControl: 'no-store', body: { meeting_url: normalized, status: 'dispatched' } });
  });

  it('[MEET-01] each accepted link sends a notetaker to the rebuilt link', async () => {
    const rebuilt = accepted.map(({ normalized }) => normalized);
    expect((await sentLinks()).toSorted()).toEqual(rebuilt.toSorted());
  });

  it('[MEET-13] no link is in the log', () => {
    const lines = JSON.stringify(log.lines);
    for (const { normalized } of accepted) expect(lines).not.toContain(normalized);
    expect(lines).not.toMatch(/fakePasscode|QmFm|Qm9nd/i);
  });
});
