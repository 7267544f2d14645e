/** One small world that all examples of the document are taken from. */
export const EXAMPLE_IDS = {
  ada: '0b6a8a52-7f0c-4a4e-9d3b-6f2f3c1f5a10',
  ben: '5d0f6a1e-3a0c-4c7b-8c0e-2b8f1d9e7c44',
  team: '9a1c2e57-7b1d-4f0a-9f6e-0d3b5a7c8e21',
  channel: 'c3f2a6d8-1e5b-4b9c-8a7d-6e0f9b2d4c13',
  bubble: '3f8e1c9a-5b7d-4e2f-a1c6-8d9b0e7f2a35',
  key: '7e4d2b10-9c8f-4a6b-b5d3-1f0e2c4a6b87',
  comment: 'a2b4c6d8-0e1f-4a3b-9c5d-7e9f1b3d5f70',
  thread: 'b1d3f5a7-2c4e-4f6a-8b0c-9d1e3f5a7b92',
  subscription: 'wh_4c1f0a9be27d5836f19c0e7ab2',
  delivery: 'dlv_0ee8dc11056b6fada1afd217f6',
  event: 'evt_7b92c04de5a1f3860d4be19c27',
  replay: 'rpl_93d5e0c17a4f28b6d1c95e7f02',
  join: 'd4e6f8a0-3b5c-4d7e-9f1a-2b4c6d8e0f13',
} as const;

/** Opaque: nobody takes it apart. */
const EXAMPLE_CURSOR = 'AZwB7r0m3kYQ2f5xV8cTnPjH1sLd';
const CREATED_AT = '2026-01-31T09:30:00.000Z';
const LATER = '2026-01-31T10:12:08.417Z';
const SUMMARY =
  'The team reviewed the launch of the mobile app. Ben showed the new onboarding, which cuts sign-up from six steps to three.';
const TITLE = 'Weekly stand-up';
const APP_LINK = 'https://app.example.com/b/1vvSdJytz0mYvvH6tNQZan';
const RECEIVER = 'https://hooks.example.com/in';
const PREVIEW = 'svc_pat_Ab3x…';
const MEETING_LINK = 'https://meet.google.com/abc-defg-hij';
const ADA = { id: EXAMPLE_IDS.ada, name: 'Ada Quinn', email: 'ada@example.com' } as const;
const BEN = { id: EXAMPLE_IDS.ben, name: 'Ben Osei', email: 'ben@example.com' } as const;

const user = { ...ADA, picture_url: null };
const team = {
  id: EXAMPLE_IDS.team,
  name: 'Acme',
  plan: 'pro',
  role: 'admin',
  channels: [{ id: EXAMPLE_IDS.channel, name: 'general' }],
};
const bubble = {
  id: EXAMPLE_IDS.bubble,
  type: 'meeting_recording',
  title: TITLE,
  url: APP_LINK,
  created_at: CREATED_AT,
  team_id: EXAMPLE_IDS.team,
  channel_id: EXAMPLE_IDS.channel,
  channel_name: 'general',
  author: ADA,
  participants: [ADA, BEN],
  media: {
    video_url: 'https://media.example.com/3f8e1c9a/video.mp4',
    thumbnail_url: 'https://media.example.com/3f8e1c9a/thumbnail.jpg',
    screenshot_url: null,
    duration_seconds: 1860,
    is_processed: true,
  },
  summary: SUMMARY,
  action_items: 'Ben: send the pilot numbers by Thursday.',
  has_transcript: true,
  comment_count: 1,
  is_public: false,
  embed_code: null,
  expires_at: null,
  archived: false,
  creator_id: EXAMPLE_IDS.ada,
  response_required: false,
  has_external_participants: false,
  external_participant_email_domains: [],
  meeting: { platform: 'google_meet', start_time: CREATED_AT },
};
const bubbleSummary = {
  id: bubble.id,
  type: bubble.type,
  title: bubble.title,
  url: bubble.url,
  created_at: bubble.created_at,
  team_id: bubble.team_id,
  channel_id: bubble.channel_id,
  author_id: EXAMPLE_IDS.ada,
  thumbnail_url: bubble.media.thumbnail_url,
  duration_seconds: bubble.media.duration_seconds,
  comment_count: bubble.comment_count,
  expires_at: null,
  has_summary: true,
  summary: SUMMARY,
};
const comment = {
  id: EXAMPLE_IDS.comment,
  thread_id: EXAMPLE_IDS.thread,
  bubble_id: EXAMPLE_IDS.bubble,
  kind: 'text',
  body: 'Can we get these by Thursday?',
  video_url: null,
  image_url: null,
  created_at: LATER,
  author: { id: EXAMPLE_IDS.ada, name: 'Ada Quinn' },
  is_pinned: false,
  timestamp_seconds: 20,
  url: `${APP_LINK}?comment=${EXAMPLE_IDS.comment}`,
};
const transcriptJson = {
  bubble_id: EXAMPLE_IDS.bubble,
  format: 'json',
  segments: [
    {
      speaker: { id: EXAMPLE_IDS.ada, name: 'Ada Quinn' },
      text: 'Where are we with the mobile app?',
      start_time_seconds: 0,
      end_time_seconds: 6.5,
    },
    { speaker: { id: null, name: 'Olga Petrova' }, text: 'The new onboarding is done.', start_time_seconds: 7, end_time_seconds: 11 },
  ],
};
const transcriptText = {
  bubble_id: EXAMPLE_IDS.bubble,
  format: 'text',
  text: 'Ada Quinn: Where are we with the mobile app?\n\nOlga Petrova: The new onboarding is done.',
};
const createApiKey = { name: 'reporting' };
const apiKey = {
  id: EXAMPLE_IDS.key,
  name: 'reporting',
  token_preview: PREVIEW,
  created_at: CREATED_AT,
  last_used_at: LATER,
};
const apiKeyCreated = {
  id: EXAMPLE_IDS.key,
  name: 'reporting',
  token: 'svc_pat_Ab3xVYq0m2J8cTz5WkR1nLsD7fHgPbE4uXiO6yQaNtM',
  token_preview: PREVIEW,
  created_at: CREATED_AT,
};
const createWebhook = { url: RECEIVER, events: ['bubble.ready'], filters: { bubble_types: ['meeting_recording'] } };
const updateWebhook = { url: 'https://hooks.example.com/v2', status: 'active' };
const subscription = {
  id: EXAMPLE_IDS.subscription,
  url: RECEIVER,
  events: ['bubble.ready'],
  team_id: null,
  space_id: null,
  filters: { bubble_types: ['meeting_recording'] },
  status: 'active',
  created_at: CREATED_AT,
  last_success_at: LATER,
  last_failure_at: null,
  disabled_at: null,
  disabled_reason: null,
};
const subscriptionCreated = {
  ...subscription,
  last_success_at: null,
  secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwN1m0b7cVbQ0=',
};
const deliveryRecord = {
  id: EXAMPLE_IDS.delivery,
  event_id: EXAMPLE_IDS.event,
  type: 'bubble.ready',
  bubble_id: EXAMPLE_IDS.bubble,
  status: 'succeeded',
  cancelled_reason: null,
  created_at: CREATED_AT,
  finished_at: LATER,
  next_attempt_at: null,
  attempts: [{ number: 1, started_at: LATER, duration_ms: 84, outcome: '2xx', status: 204, detail: null, response_preview: '' }],
};
const joinMeeting = { meeting_url: MEETING_LINK, team_id: EXAMPLE_IDS.team };
const joinCreated = {
  id: EXAMPLE_IDS.join,
  type: 'meeting_join',
  status: 'dispatched',
  meeting_url: MEETING_LINK,
  team_id: EXAMPLE_IDS.team,
  created_at: CREATED_AT,
};
const joinStatus = {
  id: EXAMPLE_IDS.join,
  type: 'meeting_join',
  status: 'in_call',
  bot_in_call: true,
  fatal_reason: null,
  team_id: EXAMPLE_IDS.team,
  updated_at: LATER,
};
const signupSession = 'svc_signup_qB7xVYq0m2J8cTz5WkR1nLsD7fHgPbE4uXiO6yQaNtM';
const bySession = { signup_session: signupSession };
const signupStart = { email: ADA.email };
const signupVerify = { ...bySession, code: '402916' };
const signupWorkspace = { ...bySession, action: 'create', workspace_name: team.name };
const listedWorkspace = { id: team.id, name: team.name };
const signupStarted = {
  next_step: 'verify',
  agent_context: 'A code of six digits was mailed. Ask the user for it and send it to POST /v1/signup/verify. Never guess a code.',
  relay_to_user: 'I have had a code mailed to you. Please tell me its six digits.',
  ...bySession,
};
const signupVerified = { ...signupStarted, next_step: 'workspaces', relay_to_user: 'Your e-mail address is confirmed.' };
const signupWorkspaces = {
  ...signupStarted,
  next_step: 'workspace',
  relay_to_user: 'You may join the workspace "Acme", or create your own.',
  workspaces: [listedWorkspace],
};
const proTrial = { active: true, plan: 'pro', benefits: ['API keys and webhooks'] };
const domainJoin = { available: true, domain: 'acme.example' };
const signupPlaced = {
  ...signupStarted,
  next_step: 'calendar',
  relay_to_user: 'Your workspace "Acme" is ready.',
  team_id: team.id,
  pro_trial: proTrial,
  domain_join: domainJoin,
};
const mcpTool = { name: 'search_bubbles', title: 'Search recordings', kind: 'read', summary: 'Finds recordings by words.' };
const mcpConnect = {
  endpoint: 'https://api.example.com/mcp',
  oauth_protected_resource: 'https://api.example.com/.well-known/oauth-protected-resource',
  scopes: ['bubbles:read', 'webhooks:manage', 'meetings:join'],
  how_to_connect: 'Add the endpoint to your assistant as an MCP server over HTTP, and sign in when it asks.',
  tools: [mcpTool],
};
const signupDone = {
  ...signupStarted,
  next_step: 'done',
  relay_to_user: 'You are signed up. You may connect your calendar, or skip it.',
  why: ['The notetaker can come to your meetings by itself.'],
  google_connect_url: 'https://api.example.com/connect/calendar/google?link=Yk2p',
  microsoft_connect_url: 'https://api.example.com/connect/calendar/microsoft?link=Yk2p',
  skip: true,
  mcp: mcpConnect,
};

const delivery = { id: EXAMPLE_IDS.event, type: 'bubble.ready', created_at: CREATED_AT, data: { bubble } };
const bubblesList = { data: [bubbleSummary], has_more: true, next_cursor: EXAMPLE_CURSOR };
const commentList = { data: [comment], has_more: false, next_cursor: null };
const teamList = { data: [team] };
const apiKeyList = { data: [apiKey] };
const subscriptionList = { data: [subscription] };

const EXAMPLES: ReadonlyMap<string, unknown> = new Map<string, unknown>(
  Object.entries({
    BubblesList: bubblesList,
    CommentList: commentList,
    TeamList: teamList,
    ApiKeyList: apiKeyList,
    WebhookSubscriptionList: subscriptionList,
    WebhookDelivery: delivery,
    User: user,
    Team: team,
    Bubble: bubble,
    BubbleSummary: bubbleSummary,
    Comment: comment,
    TranscriptJson: transcriptJson,
    TranscriptText: transcriptText,
    CreateApiKeyRequest: createApiKey,
    ApiKeySummary: apiKey,
    ApiKeyCreated: apiKeyCreated,
    CreateWebhookRequest: createWebhook,
    UpdateWebhookRequest: updateWebhook,
    WebhookSubscription: subscription,
    WebhookSubscriptionCreated: subscriptionCreated,
    WebhookDeliveryRecord: deliveryRecord,
    JoinMeetingRequest: joinMeeting,
    MeetingJoinCreated: joinCreated,
    MeetingJoinStatus: joinStatus,
    SignupStartRequest: signupStart,
    SignupVerifyRequest: signupVerify,
    SignupWorkspacesRequest: bySession,
    SignupWorkspaceRequest: signupWorkspace,
    SignupCalendarRequest: bySession,
    SignupStartResponse: signupStarted,
    SignupVerifyResponse: signupVerified,
    SignupWorkspace: listedWorkspace,
    SignupWorkspacesResponse: signupWorkspaces,
    SignupProTrial: proTrial,
    SignupDomainJoin: domainJoin,
    SignupWorkspaceResponse: signupPlaced,
    SignupMcpTool: mcpTool,
    SignupMcpConnect: mcpConnect,
    SignupCalendarResponse: signupDone,
  }),
);

/** What stands in the document as the examples of a component; a test holds each to its schema, which cannot be named here: it is made with them. */
export const examplesOf = (component: string): unknown[] => {
  const example = EXAMPLES.get(component);
  if (example === undefined) throw new TypeError(`There is no example of ${component}.`);
  return [example];
};
