/** Section 4 of the interface as data. */
export interface Endpoint {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly auth: 'none' | 'pat' | 'session' | 'pat+session';
  readonly scope?: string;
  readonly query?: readonly string[];
  /** Component of the request body. */
  readonly body?: string;
  readonly status: number;
  /** Component of the answer, absent when it has no body. */
  readonly answer?: string;
  /** What it takes and answers beside that, as an extension. */
  readonly extension?: { readonly query: readonly string[]; readonly answer: string };
  /** Statuses of refusals, over those that every endpoint has. */
  readonly refusals: readonly number[];
  /** `envelope` when absent. */
  readonly errorFormat?: 'rfc6749' | 'page';
}

type ByService = Readonly<Record<string, readonly Endpoint[]>>;

const READ = { auth: 'pat', scope: 'bubbles:read' } as const;
const LIST_QUERY = ['limit', 'cursor', 'team_id', 'space_id', 'type', 'created_after', 'created_before'];
const JOIN = { auth: 'pat', scope: 'meetings:join' } as const;
const HOOKS = { auth: 'pat', scope: 'webhooks:manage' } as const;

/** A step of signup: the POST, and the GET with the fields of its body in the query. */
const signupStep = (
  [path, name]: readonly [path: string, name: string],
  fields: readonly string[],
  refusals: readonly number[],
): readonly Endpoint[] => {
  const common = { path: `/v1/signup/${path}`, auth: 'none', status: 200, answer: `Signup${name}Response`, refusals } as const;
  return [
    { ...common, method: 'POST', body: `Signup${name}Request` },
    { ...common, method: 'GET', query: fields },
  ];
};
const OF_SESSION = [400, 401, 409];

export const ENDPOINTS: ByService = {
  'identity-and-oauth': [
    { method: 'GET', path: '/v1/me', auth: 'pat', status: 200, answer: 'User', refusals: [] },
    { method: 'GET', path: '/v1/teams', auth: 'pat', status: 200, answer: 'TeamList', refusals: [] },
    {
      method: 'POST',
      path: '/v1/api-keys',
      auth: 'session',
      body: 'CreateApiKeyRequest',
      status: 201,
      answer: 'ApiKeyCreated',
      refusals: [400, 403, 409],
    },
    { method: 'GET', path: '/v1/api-keys', auth: 'session', status: 200, answer: 'ApiKeyList', refusals: [] },
    { method: 'DELETE', path: '/v1/api-keys/{id}', auth: 'session', status: 204, refusals: [404] },
    {
      method: 'GET',
      path: '/.well-known/oauth-authorization-server',
      auth: 'none',
      status: 200,
      answer: 'AuthorizationServerMetadata',
      refusals: [],
    },
    {
      method: 'GET',
      path: '/.well-known/oauth-protected-resource',
      auth: 'none',
      status: 200,
      answer: 'ProtectedResourceMetadata',
      refusals: [],
    },
    {
      method: 'POST',
      path: '/oauth/register',
      auth: 'none',
      body: 'RegisterClientRequest',
      status: 201,
      answer: 'OAuthClientRegistration',
      refusals: [400, 413, 429],
      errorFormat: 'rfc6749',
    },
    {
      method: 'GET',
      path: '/oauth/authorize',
      auth: 'none',
      query: [
        ...['response_type', 'client_id', 'redirect_uri', 'code_challenge', 'code_challenge_method'],
        ...['scope', 'state', 'resource'],
      ],
      status: 303,
      refusals: [400, 429],
      errorFormat: 'page',
    },
    {
      method: 'POST',
      path: '/oauth/token',
      auth: 'none',
      status: 200,
      answer: 'TokenAnswer',
      refusals: [400, 401, 429],
      errorFormat: 'rfc6749',
    },
    { method: 'POST', path: '/oauth/revoke', auth: 'none', status: 200, refusals: [400, 401, 429], errorFormat: 'rfc6749' },
    { method: 'GET', path: '/oauth/jwks', auth: 'none', status: 200, answer: 'JwkSet', refusals: [] },
  ],
  'bubbles-query': [
    { method: 'GET', path: '/v1/bubbles', ...READ, query: LIST_QUERY, status: 200, answer: 'BubblesList', refusals: [400, 403] },
    {
      method: 'GET',
      path: '/v1/bubbles/search',
      ...READ,
      query: [...LIST_QUERY, 'q'],
      status: 200,
      answer: 'BubblesList',
      refusals: [400, 403],
    },
    { method: 'GET', path: '/v1/bubbles/{id}', ...READ, status: 200, answer: 'Bubble', refusals: [403, 404] },
    {
      method: 'GET',
      path: '/v1/bubbles/{id}/transcript',
      ...READ,
      query: ['format'],
      status: 200,
      answer: 'Transcript',
      refusals: [400, 403, 404],
    },
    {
      method: 'GET',
      path: '/v1/bubbles/{id}/comments',
      ...READ,
      query: ['limit', 'cursor'],
      status: 200,
      answer: 'CommentList',
      refusals: [400, 403, 404],
    },
  ],
  'webhooks-dispatcher': [
    {
      method: 'POST',
      path: '/v1/webhooks',
      ...HOOKS,
      auth: 'pat+session',
      body: 'CreateWebhookRequest',
      status: 201,
      answer: 'WebhookSubscriptionCreated',
      refusals: [400, 403],
    },
    {
      method: 'GET',
      path: '/v1/webhooks',
      ...HOOKS,
      status: 200,
      answer: 'WebhookSubscriptionList',
      extension: { query: ['limit', 'cursor'], answer: 'WebhookSubscriptionPage' },
      refusals: [403],
    },
    { method: 'GET', path: '/v1/webhooks/{id}', ...HOOKS, status: 200, answer: 'WebhookSubscription', refusals: [403, 404] },
    {
      method: 'PATCH',
      path: '/v1/webhooks/{id}',
      ...HOOKS,
      body: 'UpdateWebhookRequest',
      status: 200,
      answer: 'WebhookSubscription',
      refusals: [400, 403, 404],
    },
    { method: 'DELETE', path: '/v1/webhooks/{id}', ...HOOKS, status: 204, refusals: [403, 404] },
    { method: 'POST', path: '/v1/webhooks/{id}/test', ...HOOKS, status: 202, answer: 'WebhookTestQueued', refusals: [403, 404] },
  ],
  'meetings-bot-gateway': [
    {
      method: 'POST',
      path: '/v1/meetings/join',
      ...JOIN,
      body: 'JoinMeetingRequest',
      status: 201,
      answer: 'MeetingJoinCreated',
      refusals: [400, 403, 429],
    },
    { method: 'GET', path: '/v1/meetings/join/{id}', ...JOIN, status: 200, answer: 'MeetingJoinStatus', refusals: [403, 404] },
  ],
  signup: [
    ...signupStep(['start', 'Start'], ['email'], [400, 429]),
    ...signupStep(['verify', 'Verify'], ['signup_session', 'code'], [400, 401]),
    ...signupStep(['workspaces', 'Workspaces'], ['signup_session'], OF_SESSION),
    ...signupStep(['workspace', 'Workspace'], ['signup_session', 'action', 'team_id', 'workspace_name'], [...OF_SESSION, 403]),
    ...signupStep(['calendar', 'Calendar'], ['signup_session'], OF_SESSION),
  ],
};

/** What every endpoint may answer beside its own refusals. */
export const commonRefusals = ({ auth }: Endpoint): readonly number[] => (auth === 'none' ? [500] : [401, 429, 500]);
