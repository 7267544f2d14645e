import type { SIGNUP_STEPS } from '@bubbles/contracts/api/signup.ts';
import type { z } from 'zod';
import { domainOf } from '../../domain/flow.ts';
import { TEXTS } from '../../domain/texts.ts';
import type { WorkspaceRequest, WorkspaceStep } from '../../use-cases/workspace-step.ts';

/** What stands in every answer. */
export const presentText = ({ agent, user }: { readonly agent: string; readonly user: string }, session: string) => ({
  agent_context: agent,
  relay_to_user: user,
  signup_session: session,
});

/** The schema has proved that the fields of the action are there. */
export const requestOf = ({
  action,
  team_id = '',
  workspace_name = '',
}: z.infer<typeof SIGNUP_STEPS.workspace.request>): WorkspaceRequest => {
  if (action === 'join') return { action, teamId: team_id };
  return action === 'create' ? { action, name: workspace_name } : { action };
};

const BENEFITS = [
  'API keys for scripts and integrations',
  'Webhooks that tell other services of new recordings',
  'As many recorded meetings as you like',
];

export const presentWorkspaceStep = (step: WorkspaceStep, session: string): z.infer<typeof SIGNUP_STEPS.workspace.response> => {
  const next_step = 'calendar' as const;
  switch (step.action) {
    case 'join':
      return { next_step, ...presentText(TEXTS.joined, session), team_id: step.teamId };
    case 'enable_domain_join':
      return {
        next_step,
        ...presentText(TEXTS.opened(step.domain), session),
        team_id: step.teamId,
        domain_join_enabled: true,
        domain: step.domain,
      };
    case 'create': {
      const { created, proven } = step;
      const active = created.trialEndsAt !== null;
      return {
        next_step,
        ...presentText(TEXTS.created(created, proven.domain), session),
        team_id: step.teamId,
        pro_trial: { active, plan: active ? 'pro' : 'free', benefits: active ? BENEFITS : [] },
        domain_join: { available: proven.domain !== null, domain: proven.domain ?? domainOf(proven) },
      };
    }
  }
};

const WHY = [
  'The notetaker knows your meetings and can come to them by itself.',
  'Recordings carry the titles and the people of your meetings.',
  'You can disconnect the calendar at any time; only its events are read.',
];

export const presentCalendarStep = (
  links: { readonly google: string; readonly microsoft: string },
  mcp: z.infer<typeof SIGNUP_STEPS.calendar.response>['mcp'],
  session: string,
): z.infer<typeof SIGNUP_STEPS.calendar.response> => ({
  next_step: 'done',
  ...presentText(TEXTS.done, session),
  why: WHY,
  google_connect_url: links.google,
  microsoft_connect_url: links.microsoft,
  skip: true,
  mcp,
});
