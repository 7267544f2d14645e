import { ApiKeyCreated, ApiKeyList, CreateApiKeyRequest } from '@bubbles/contracts/api/api-key.ts';
import { Bubble, BubblesList } from '@bubbles/contracts/api/bubble.ts';
import { CommentList } from '@bubbles/contracts/api/comment.ts';
import { JoinMeetingRequest, MeetingJoinCreated, MeetingJoinStatus } from '@bubbles/contracts/api/meeting-join.ts';
import { SIGNUP_STEPS } from '@bubbles/contracts/api/signup.ts';
import { Transcript } from '@bubbles/contracts/api/transcript.ts';
import { TeamList, User } from '@bubbles/contracts/api/user.ts';
import {
  CreateWebhookRequest,
  UpdateWebhookRequest,
  WebhookSubscriptionCreated,
  WebhookSubscriptionList,
} from '@bubbles/contracts/api/webhook.ts';
import { schemaDocument } from '@bubbles/http/document/schema-document.ts';
import { describe, expect, it } from '@jest/globals';
import { schemaFaultsIn } from '../fuzz/json-schema.ts';
import { fieldTypes, lackingIn } from './field-types.ts';
import { ENUMERATIONS, REQUEST_COMPONENTS, RESPONSE_COMPONENTS } from './interface-components.ts';

const RESPONSES = [
  Bubble,
  BubblesList,
  CommentList,
  TeamList,
  ApiKeyList,
  WebhookSubscriptionList,
  User,
  Transcript,
  ApiKeyCreated,
  WebhookSubscriptionCreated,
  MeetingJoinCreated,
  MeetingJoinStatus,
  ...Object.values(SIGNUP_STEPS).map(({ response }) => response),
];
const REQUESTS = [
  ...[CreateApiKeyRequest, CreateWebhookRequest, UpdateWebhookRequest, JoinMeetingRequest],
  ...Object.values(SIGNUP_STEPS).map(({ request }) => request),
];

const schemas = schemaDocument();
for (const response of RESPONSES) schemas.schemaOf(response, 'output');
for (const request of REQUESTS) schemas.schemaOf(request, 'input');
const components = schemas.components();
const faultsOf = schemaFaultsIn({ components: { schemas: components } });

describe('section 2: resources and their fields', () => {
  it('allow additions and nothing else', () => {
    const listed = { id: 'string', kind: 'a | b | null', tags: '(x | y)[]', parts: 'Part[]' };
    const more = { ...listed, kind: 'a | b | c | null', tags: '(x | y | z)[]', added: 'string' };
    expect(lackingIn(more, listed, 'answer')).toEqual([]);
    expect(lackingIn({ ...listed, 'added?': 'string' }, listed, 'body')).toEqual([]);
    expect(lackingIn({ ...listed, added: 'string' }, listed, 'body')).toHaveLength(1);
    for (const changed of [
      { id: 'string | null' },
      { id: 'number' },
      { id: 'a | b' },
      { kind: 'a | null' },
      { kind: 'a | b' },
      { kind: 'string | null' },
      { tags: 'x | y' },
      { parts: 'Other[]' },
    ])
      expect(lackingIn({ ...listed, ...changed }, listed, 'answer')).toHaveLength(1);
    const { id: _, ...without } = listed;
    expect(lackingIn({ ...without, 'id?': 'string' }, listed, 'answer')).toHaveLength(1);
  });

  it.each(Object.entries(RESPONSE_COMPONENTS))('[API-01][GEN-04][GEN-05] %s has its fields at least, each required', (name, fields) => {
    expect(lackingIn(fieldTypes(name, components), fields, 'answer')).toEqual([]);
  });

  it.each(Object.entries(REQUEST_COMPONENTS))('[API-01] the body %s has its fields at least', (name, fields) => {
    expect(lackingIn(fieldTypes(name, components), fields, 'body')).toEqual([]);
  });

  it.each(Object.entries(components))('[API-01] the examples of %s are ones', (_, component) => {
    const { examples = [] } = Object(component);
    for (const example of examples) expect(faultsOf(Object(component), example)).toEqual([]);
  });

  it('[TRN-01] a transcript is one of two', () => {
    expect(components['Transcript']).toMatchObject({
      oneOf: [{ $ref: '#/components/schemas/TranscriptJson' }, { $ref: '#/components/schemas/TranscriptText' }],
    });
  });

  it('[API-01] there is a component for each of them and of their enumerations', () => {
    const known = [...Object.keys(RESPONSE_COMPONENTS), ...Object.keys(REQUEST_COMPONENTS), ...Object.keys(ENUMERATIONS), 'Transcript'];
    expect(Object.keys(components)).toEqual(expect.arrayContaining(known));
  });

  it.each(Object.entries(ENUMERATIONS))('[API-01] the enumeration %s has a name of its own', (name, values) => {
    expect(components[name]).toMatchObject({ type: 'string', enum: expect.arrayContaining(values.split(' | ')) });
  });
});
