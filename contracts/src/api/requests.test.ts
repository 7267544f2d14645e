import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { CreateApiKeyRequest } from './api-key.ts';
import { JoinMeetingRequest } from './meeting-join.ts';
import { CreateWebhookRequest, UpdateWebhookRequest, WebhookSubscriptionFilters } from './webhook.ts';

const ASTRAL = '\u{1f511}';
const refused = (schema: z.ZodType, value: unknown) => schema.safeParse(value).success === false;

describe('CreateApiKeyRequest', () => {
  it.each([
    ['one character', 'a', 'a'],
    ['100 characters', 'x'.repeat(100), 'x'.repeat(100)],
    ['100 characters beyond the basic plane', ASTRAL.repeat(100), ASTRAL.repeat(100)],
    ['100 characters between blanks, stored trimmed', `  ${'x'.repeat(100)}\n`, 'x'.repeat(100)],
    ['joined emoji', '👩‍🔬 lab', '👩‍🔬 lab'],
  ])('[KEY-01] a name of %s is taken', (_, sent, stored) => {
    expect(CreateApiKeyRequest.parse({ name: sent })).toEqual({ name: stored });
  });

  it.each([
    ['no character', ''],
    ['blanks only', ' \t\u00a0 '],
    ['101 characters', 'x'.repeat(101)],
    ['101 characters beyond the basic plane', ASTRAL.repeat(101)],
    ['NUL', 'a\0b'],
    ['a control character', 'a\u0007b'],
    ['a line break', 'a\nb'],
    ['a line separator', 'a\u2028b'],
    ['a right-to-left override', 'a\u202eb'],
    ['half a surrogate pair', '\ud800'],
    ['a number', 7],
    ['null', null],
    ['an object', { $ne: '' }],
  ])('[KEY-01] a name of %s is refused', (_, name) => {
    expect(refused(CreateApiKeyRequest, { name })).toBe(true);
  });

  it('[KEY-01] the name is required', () => {
    expect(refused(CreateApiKeyRequest, {})).toBe(true);
  });

  it('[GEN-07] unknown fields are ignored', () => {
    expect(CreateApiKeyRequest.parse({ name: 'ci', scopes: ['all'] })).toEqual({ name: 'ci' });
  });
});

describe('CreateWebhookRequest', () => {
  const valid = { url: 'https://hooks.example.com/in', events: ['bubble.ready'] };

  it('[HOOK-01] url and one event are enough', () => {
    expect(CreateWebhookRequest.parse(valid)).toEqual(valid);
  });

  it('[HOOK-01] every optional field is kept', () => {
    const full = { ...valid, team_id: 't', space_id: 'c', filters: { bubble_types: ['custom_image'], only_my_bubbles: true } };
    expect(CreateWebhookRequest.parse(full)).toEqual(full);
  });

  it('[HOOK-03] repeated events collapse, in the order first named', () => {
    const events = ['screen_recording.ready', 'bubble.ready', 'screen_recording.ready'];
    expect(CreateWebhookRequest.parse({ ...valid, events }).events).toEqual(['screen_recording.ready', 'bubble.ready']);
  });

  it.each([
    ['no url', { url: undefined }],
    ['an empty url', { url: '' }],
    ['a url of 2,049 characters', { url: `https://hooks.example.com/${'a'.repeat(2023)}` }],
    ['no events', { events: [] }],
    ['events of null', { events: null }],
    ['one event as text', { events: 'bubble.ready' }],
    ['an event that does not exist', { events: ['bubble.ready', 'bubble.created'] }],
    ['the test event', { events: ['webhook.test'] }],
    ['team_id null', { team_id: null }],
    ['space_id null', { space_id: null }],
    ['an empty team_id', { team_id: '' }],
    ['filters null', { filters: null }],
    ['bubble_types null', { filters: { bubble_types: null } }],
    ['no bubble_types', { filters: { bubble_types: [] } }],
    ['a bubble type that does not exist', { filters: { bubble_types: ['note'] } }],
    ['only_my_bubbles as text', { filters: { only_my_bubbles: 'true' } }],
  ])('[HOOK-03] %s is refused', (_, change) => {
    expect(refused(CreateWebhookRequest, { ...valid, ...change })).toBe(true);
  });

  it('[HOOK-01] a url of 2,048 characters is taken', () => {
    expect(refused(CreateWebhookRequest, { ...valid, url: `https://hooks.example.com/${'a'.repeat(2022)}` })).toBe(false);
  });

  it('[HOOK-03] the message names the field', () => {
    const issues = CreateWebhookRequest.safeParse({ ...valid, filters: { bubble_types: ['note'] } }).error?.issues;
    expect(issues?.[0]?.path).toEqual(['filters', 'bubble_types', 0]);
  });
});

describe('UpdateWebhookRequest', () => {
  it('[HOOK-05] an omitted field stays absent', () => {
    expect(UpdateWebhookRequest.parse({})).toEqual({});
    expect(UpdateWebhookRequest.parse({ filters: {} })).toEqual({ filters: {} });
  });

  it('[HOOK-05] status accepts active alone', () => {
    expect(UpdateWebhookRequest.parse({ status: 'active' })).toEqual({ status: 'active' });
    for (const status of ['disabled', 'ACTIVE', '', null, true]) expect(refused(UpdateWebhookRequest, { status })).toBe(true);
  });

  it.each(['url', 'events', 'filters', 'status'])('[HOOK-05] %s may not be null', (field) => {
    expect(refused(UpdateWebhookRequest, { [field]: null })).toBe(true);
  });

  it('[HOOK-05] events, when sent, name at least one', () => {
    expect(refused(UpdateWebhookRequest, { events: [] })).toBe(true);
    expect(UpdateWebhookRequest.parse({ events: ['bubble.ready', 'bubble.ready'] })).toEqual({ events: ['bubble.ready'] });
  });

  it('[HOOK-05] scope is no field of it', () => {
    expect(UpdateWebhookRequest.parse({ team_id: 't', secret: 's' })).toEqual({});
  });
});

describe('JoinMeetingRequest', () => {
  it('[MEET-03] team_id is required', () => {
    expect(refused(JoinMeetingRequest, { meeting_url: 'https://meet.google.com/abc-defg-hij' })).toBe(true);
    expect(refused(JoinMeetingRequest, { meeting_url: 'https://meet.google.com/abc-defg-hij', team_id: '' })).toBe(true);
  });

  it('[MEET-02] meeting_url is required text', () => {
    for (const meeting_url of [undefined, null, '', 7]) expect(refused(JoinMeetingRequest, { meeting_url, team_id: 't' })).toBe(true);
  });
});

describe('the document', () => {
  it.each([
    [CreateApiKeyRequest, 'CreateApiKeyRequest'],
    [CreateWebhookRequest, 'CreateWebhookRequest'],
    [UpdateWebhookRequest, 'UpdateWebhookRequest'],
    [JoinMeetingRequest, 'JoinMeetingRequest'],
  ])('[API-01] a request is a component of its name', (schema, id) => {
    expect(z.toJSONSchema(schema, { io: 'input' })).toMatchObject({ $ref: `#/$defs/${id}` });
  });

  it('[API-01] filters are one component, sent or echoed', () => {
    const input = z.toJSONSchema(WebhookSubscriptionFilters, { io: 'input' });
    const output = z.toJSONSchema(WebhookSubscriptionFilters, {
      io: 'output',
      override: ({ jsonSchema }) => delete jsonSchema.additionalProperties,
    });
    expect(output).toEqual(input);
  });
});
