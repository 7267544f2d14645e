import { z } from 'zod';
import { PLANS, ROLES } from '../access.ts';
import { examplesOf } from './examples.ts';
import { ChannelId, TeamId } from './ids.ts';

export const TeamPlan = z.enum(PLANS).meta({ id: 'TeamPlan' });
export const TeamRole = z.enum(ROLES).meta({ id: 'TeamRole' });

export const TeamChannel = z.object({ id: ChannelId, name: z.string().nullable() }).meta({ id: 'TeamChannel' });
export type TeamChannel = z.infer<typeof TeamChannel>;

export const Team = z
  .object({
    id: TeamId,
    name: z.string().nullable(),
    plan: TeamPlan,
    role: TeamRole.nullable().meta({ description: "The caller's role" }),
    channels: z.array(TeamChannel).meta({ description: 'The channels visible to the caller' }),
  })
  .meta({ id: 'Team', examples: examplesOf('Team') });
export type Team = z.infer<typeof Team>;
