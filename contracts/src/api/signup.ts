import { z } from 'zod';
import { examplesOf } from './examples.ts';
import { CallerId, displayName } from './fields.ts';
import { TeamId } from './ids.ts';

const SignupSession = CallerId.meta({ description: 'The `signup_session` of the answer before' });
const BySession = z.object({ signup_session: SignupSession });

const SignupStartRequest = z
  .object({
    email: CallerId.meta({ description: 'Of the user, such as ada@example.com, without control characters; a code is mailed to it' }),
  })
  .meta({ id: 'SignupStartRequest', examples: examplesOf('SignupStartRequest') });

const SignupVerifyRequest = BySession.extend({ code: CallerId.meta({ description: 'The six digits of the mail' }) }).meta({
  id: 'SignupVerifyRequest',
  examples: examplesOf('SignupVerifyRequest'),
});

const SignupWorkspacesRequest = BySession.meta({
  id: 'SignupWorkspacesRequest',
  examples: examplesOf('SignupWorkspacesRequest'),
});

const WORKSPACE_NAME_MAX_CHARACTERS = 100;

/** Which of its fields an action takes is said by the routes, since a schema of one object lists them all. */
const SignupWorkspaceRequest = BySession.extend({
  action: z.enum(['join', 'create', 'enable_domain_join']).meta({ id: 'SignupWorkspaceAction' }),
  team_id: CallerId.exactOptional().meta({ description: 'For `join`: one of the listed workspaces' }),
  workspace_name: displayName(WORKSPACE_NAME_MAX_CHARACTERS).exactOptional(),
})
  .superRefine(({ action, team_id, workspace_name }, context) => {
    const need = (field: string) =>
      context.addIssue({ code: 'custom', path: [field], message: `is required for ${action}`, input: undefined });
    if (action === 'join' && team_id === undefined) need('team_id');
    if (action === 'create' && workspace_name === undefined) need('workspace_name');
  })
  .meta({ id: 'SignupWorkspaceRequest', examples: examplesOf('SignupWorkspaceRequest') });

const SignupCalendarRequest = BySession.meta({ id: 'SignupCalendarRequest', examples: examplesOf('SignupCalendarRequest') });

/** What every step answers. */
const Answer = z.object({
  agent_context: z.string().meta({ description: 'For the agent: what happened, what to ask the user, what to send next' }),
  relay_to_user: z.string().meta({ description: 'Plain text to show the user' }),
  signup_session: z.string().meta({ description: 'Opaque; pass it to the next step. Good for this signup alone, for an hour' }),
});

const SignupStartResponse = Answer.extend({ next_step: z.literal('verify') }).meta({
  id: 'SignupStartResponse',
  examples: examplesOf('SignupStartResponse'),
});

const SignupVerifyResponse = Answer.extend({ next_step: z.literal('workspaces') }).meta({
  id: 'SignupVerifyResponse',
  examples: examplesOf('SignupVerifyResponse'),
});

const SignupWorkspace = z.object({ id: TeamId, name: z.string() }).meta({ id: 'SignupWorkspace', examples: examplesOf('SignupWorkspace') });

const SignupWorkspacesResponse = Answer.extend({
  next_step: z.literal('workspace'),
  workspaces: z.array(SignupWorkspace).meta({ description: 'Those that the proven address may join; may be empty' }),
}).meta({ id: 'SignupWorkspacesResponse', examples: examplesOf('SignupWorkspacesResponse') });

const SignupProTrial = z
  .object({
    active: z.boolean(),
    plan: z.string(),
    benefits: z.array(z.string()),
  })
  .meta({ id: 'SignupProTrial', examples: examplesOf('SignupProTrial') });

const SignupDomainJoin = z
  .object({
    available: z.boolean().meta({ description: "Whether the domain of the proven address is a company's own" }),
    domain: z.string(),
  })
  .meta({ id: 'SignupDomainJoin', examples: examplesOf('SignupDomainJoin') });

const SignupWorkspaceResponse = Answer.extend({
  next_step: z.literal('calendar'),
  team_id: TeamId.exactOptional(),
  pro_trial: SignupProTrial.exactOptional().meta({ description: 'There when a workspace was created' }),
  domain_join: SignupDomainJoin.exactOptional().meta({ description: 'There when a workspace was created' }),
  domain_join_enabled: z.boolean().exactOptional().meta({ description: 'True in the answer to `enable_domain_join`, else absent' }),
  domain: z.string().exactOptional().meta({ description: 'Whose people may join by themselves from now on' }),
}).meta({ id: 'SignupWorkspaceResponse', examples: examplesOf('SignupWorkspaceResponse') });

const SignupMcpTool = z
  .object({ name: z.string(), title: z.string(), kind: z.enum(['read', 'write']).meta({ id: 'SignupMcpToolKind' }), summary: z.string() })
  .meta({ id: 'SignupMcpTool', examples: examplesOf('SignupMcpTool') });

const SignupMcpConnect = z
  .object({
    endpoint: z.string().meta({ description: 'URL of the MCP server' }),
    oauth_protected_resource: z.string().meta({ description: 'URL of its metadata (RFC 9728)' }),
    scopes: z.array(z.string()),
    how_to_connect: z.string(),
    tools: z.array(SignupMcpTool).meta({ description: 'Empty where no MCP server is installed' }),
  })
  .meta({ id: 'SignupMcpConnect', examples: examplesOf('SignupMcpConnect') });

const SignupCalendarResponse = Answer.extend({
  next_step: z.literal('done'),
  why: z.array(z.string()).meta({ description: 'What a connected calendar is good for' }),
  google_connect_url: z.string(),
  microsoft_connect_url: z.string(),
  skip: z.boolean().meta({ description: 'Always true: signup is complete without a calendar' }),
  mcp: SignupMcpConnect,
}).meta({ id: 'SignupCalendarResponse', examples: examplesOf('SignupCalendarResponse') });

/** The five steps, in their order: what each is told and answers. */
export const SIGNUP_STEPS = {
  start: { request: SignupStartRequest, response: SignupStartResponse },
  verify: { request: SignupVerifyRequest, response: SignupVerifyResponse },
  workspaces: { request: SignupWorkspacesRequest, response: SignupWorkspacesResponse },
  workspace: { request: SignupWorkspaceRequest, response: SignupWorkspaceResponse },
  calendar: { request: SignupCalendarRequest, response: SignupCalendarResponse },
} as const;
