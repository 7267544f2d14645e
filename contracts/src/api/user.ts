import { z } from 'zod';
import { PLANS, ROLES } from '../access.ts';
import { examplesOf } from './examples.ts';
import { HttpsLink } from './fields.ts';
import { ChannelId, TeamId, UserId } from './ids.ts';

export const User = z
  .object({
    id: UserId,
    email: z.string().nullable(),
    name: z.string().nullable(),
    picture_url: HttpsLink,
  })
  .meta({ id: 'User', examples: examplesOf('User') });
export type User = z.infer<typeof User>;

export const TeamPlan = z.enum(PLANS).meta({ id: 'TeamPlan' });
export const TeamRole = z.enum(ROLES).meta({ id: 'TeamRole' });

const TeamChannel = z.object({ id: ChannelId, name: z.string().nullable() }).meta({ id: 'TeamChannel' });

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

export const TeamList = z.object({ data: z.array(Team) }).meta({ id: 'TeamList', examples: examplesOf('TeamList') });
export type TeamList = z.infer<typeof TeamList>;
